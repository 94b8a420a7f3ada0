"""Adapters: dpfast behind the interfaces of other tools, and other tools' mechanisms in dpfast.

Each module here is one tool's names over the releases of dpfast: parameters in, answers out, and no
arithmetic. None draws noise or spends outside `release`. A tool is imported when its adapter is,
and one that is not installed is named with the line that installs it.
"""
