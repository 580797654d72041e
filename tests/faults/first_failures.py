"""A plugin of pytest: the same examples in every run, and no search for a smaller failing one."""

from hypothesis import Phase, settings

settings.register_profile(
    "first_failures", phases=[Phase.explicit, Phase.generate], derandomize=True, database=None
)
settings.load_profile("first_failures")
