"""The base of every HTTP surface: routes that declare who may use them, and one middleware order.

A request passes: request id and log -> problems -> host -> route guard -> origin -> identity ->
handler. `app.py` is that order; each step has its own file.
"""
