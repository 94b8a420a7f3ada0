"""Settings of the site; `docs/site/build.py` builds it."""

import inspect
import runpy
from functools import cache
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import roles
from sphinx.domains.python import PyXRefRole

import dpfast

project, author = "dpfast", "The dpfast developers"
version = release = dpfast.__version__
root_doc = "README"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]

# Anchors of headings as on a repository's page.
myst_heading_anchors = 4

autodoc_member_order = "bysource"
# The sections say the types, and in fewer words.
autodoc_typehints = "none"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 88
# Words of a type are no links: `rows` in a shape is not somebody's attribute.
napoleon_google_docstring = napoleon_use_param = napoleon_use_rtype = False
napoleon_custom_sections = ["Privacy", ("Attributes", "params_style")]

html_theme = "furo"
html_title = f"dpfast {release}"
html_static_path = [str(Path(__file__).with_name("static"))]
html_css_files = ["site.css"]
html_copy_source = html_show_sourcelink = False
html_last_updated_fmt = None

site = runpy.run_path(str(Path(__file__).with_name("build.py")))
PUBLIC = dict(site["public"]())
NAMES = {name.rpartition(".")[2] for name in PUBLIC}
LINKS = PyXRefRole()


@cache
def own(name):
    """The arguments of what a page is about, and of its methods."""
    found = PUBLIC.get(name)
    methods = inspect.getmembers(found, inspect.isfunction) if inspect.isclass(found) else ()
    return {a for one in (found, *(m for _, m in methods)) for a in site["arguments"](one)}


def code(role, raw, text, line, inliner, options=None, content=()):
    """Single backticks: code, and a link if it names what is public and no argument here."""
    page = inliner.document.settings.env.docname.rpartition("/")[2]
    if text.rpartition(".")[2] in NAMES and text not in own(page):
        return LINKS("py:obj", raw, text, line, inliner, options or {}, content)
    return [nodes.literal(raw, text)], []


roles.register_local_role("code-or-link", code)
default_role = "code-or-link"


def explain(app, what, name, found, options, lines):
    """Let a docstring say first what a reader of its page asks first."""
    if what != "module" and "\n".join(lines).strip() == inspect.getdoc(found):
        every = PUBLIC if name in PUBLIC else {name: found}  # else a method
        lines[:] = site["for_readers"](name, every).split("\n")


#: What the theme leaves out: levels of headings, heads without words, what the keyboard scrolls.
ACCESSIBLE = {
    'role="heading">': 'role="heading" aria-level="2">',
    '<th class="head"><p></p></th>': '<td class="head"></td>',
    '<th class="head text-right"><p></p></th>': '<td class="head"></td>',
    "<pre>": '<pre tabindex="0">',
    '<div class="table-wrapper': '<div tabindex="0" class="table-wrapper',
    '<dl>\n<dd><em class="sig-param">': '<dl role="presentation">\n<dd><em class="sig-param">',
}


def accessible(app, page, template, context, doctree):
    """Let a page be read by ear and by keyboard."""
    for part in ("body", "furo_navigation_tree"):
        for old, new in ACCESSIBLE.items():
            context[part] = context.get(part, "").replace(old, new)


def setup(app):
    """Connect what stands above to the steps of the builder."""
    app.connect("autodoc-process-docstring", explain, priority=400)  # before napoleon
    app.connect("html-page-context", accessible, priority=900)  # after the theme
