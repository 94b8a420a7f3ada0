"""Adapters: dpfast behind the interfaces of other tools, and other tools' mechanisms in dpfast.

Each module here offers releases of dpfast under the names of one other tool. It converts parameters
and answers, and does no arithmetic. No adapter draws noise or spends outside `release`. An adapter
imports its tool when the adapter is imported. If the tool is not installed, the error shows the
command that installs it.
"""
