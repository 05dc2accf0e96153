# Written by `python -m reference_impl.kafka.stubs` from kio's schemas.

from typing import TypeAlias

from reference_impl.kafka.apis import Api
from reference_impl.kafka.message import Message

UnregisterBrokerApi: TypeAlias = Api[UnregisterBrokerRequest, UnregisterBrokerResponse]

class UnregisterBrokerRequest(Message):
    broker_id: int = ...

class UnregisterBrokerResponse(Message):
    throttle_time_ms: int = ...
    error_code: int = ...
    error_message: str | None = ...
