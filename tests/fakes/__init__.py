"""Model servers for tests: the true protocols of the providers, with streaming, and answers from a script.

They know nothing of Ringfence or its tests. An agent, a gateway or curl may be on the other end.
"""
from .server import Server, Turn  # noqa: F401
