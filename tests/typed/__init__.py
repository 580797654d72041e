"""Types that users see, checked by mypy and pyright in `make lint`."""
