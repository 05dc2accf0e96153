"""The types of requests and responses, for the type checker alone: imported ``if TYPE_CHECKING``.

The classes themselves are made at run time (``kafka.message``) and reached by their API, as
``FETCH.response``. The stubs here are written by ``python -m reference_impl.kafka.stubs``.
"""
