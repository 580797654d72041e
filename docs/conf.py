"""Settings of the documentation site; `make docs` builds it."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))
# The examples find the package also if it is not installed.
sys.path.insert(0, str(HERE.parent / "src"))

import pellucid  # noqa: E402

project = "Pellucid"
author = "The Pellucid developers"
copyright = author
version = release = pellucid.__version__

extensions = [
    "mathml",
    "repository_pages",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "examples", "_templates"]
templates_path = ["_templates"]
root_doc = "index"

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4

autosummary_generate = True
autodoc_typehints = "none"
autodoc_default_options = {"member-order": "groupwise"}
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": [str(HERE.parent / "examples")],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"/plot_",
    "subsection_order": [
        f"../examples/{name}"
        for name in ("start", "clusterings", "data", "scale", "production", "extend")
    ],
    "within_subsection_order": "FileNameSortKey",
    "doc_module": ("pellucid",),
    "backreferences_dir": "api/backreferences",
    "reference_url": {"pellucid": None},
    "abort_on_example_error": True,
    "only_warn_on_example_error": False,
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 1e6,
    "matplotlib_animations": False,
    "capture_repr": ("_repr_html_", "__repr__"),
    "ignore_repr_types": r"matplotlib",  # the plot is shown
}
os.environ.setdefault("OMP_NUM_THREADS", "1")
warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")

html_math_renderer = "mathml"
# Blocks without a language are the output of commands.
highlight_language = "none"
html_theme = "pydata_sphinx_theme"
html_title = "Pellucid"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["names.js"]
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": f"Pellucid {release}"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 9,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
}
html_sidebars = {
    name: [] for name in ("index", "start", "how_it_works", "choosing", "papers", "faq")
}
