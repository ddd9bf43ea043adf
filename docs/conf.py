"""The settings of the site; `make docs` builds it. See CONTRIBUTING for how to add a page."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_extensions"))
sys.path.insert(0, str(HERE.parent / "src"))
os.environ["ASTRAY_JIT"] = "0"  # kernels stay functions, with signatures and docstrings

from astray.version import __version__  # noqa: E402 - after its path and the environment are set

project = "astray"
author = "the authors of astray"
copyright = "the authors of astray, MIT licence"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "astray_site",
]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "_extensions", "reference/examples"]
nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"(?!astray\.).*"),  # of other packages: the build needs no network
]
default_role = "code"

myst_enable_extensions = ["colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 4

autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_typehints_format = "short"
autodoc_member_order = "alphabetical"
autodoc_type_aliases = {name: name for name in ("Array", "Columns", "Row", "Rows", "Table")}
autodoc_preserve_defaults = True
autosummary_generate = False
napoleon_numpy_docstring = False
add_module_names = False
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = "astray"
html_static_path = ["_static"]
html_css_files = ["astray.css"]
html_favicon = "_static/icon.svg"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "light_logo": "logo-light.svg",
    "dark_logo": "logo-dark.svg",
    "sidebar_hide_name": True,
    "light_css_variables": {
        "color-brand-primary": "#0068a3",
        "color-brand-content": "#0068a3",
        "color-brand-visited": "#0068a3",
    },
    "dark_css_variables": {
        "color-brand-primary": "#6fc0ee",
        "color-brand-content": "#6fc0ee",
        "color-brand-visited": "#6fc0ee",
    },
}
pygments_style = "default"
pygments_dark_style = "github-dark"
copybutton_exclude = ".linenos, .gp, .go"
