"""The answers of AlterConfigs and IncrementalAlterConfigs, which are alike but not the same."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from reference_impl.kafka.apis import AnyApi

if TYPE_CHECKING:
    from reference_impl.kafka.messages import (
        AlterConfigsApi,
        AlterConfigsResponse,
        IncrementalAlterConfigsApi,
        IncrementalAlterConfigsResponse,
    )


class Altered(NamedTuple):
    """What became of one resource."""

    resource_type: int
    resource_name: str
    error_code: int
    error_message: str | None


@overload
def altered_configs(api: AlterConfigsApi, results: Iterable[Altered]) -> AlterConfigsResponse: ...


@overload
def altered_configs(
    api: IncrementalAlterConfigsApi, results: Iterable[Altered]
) -> IncrementalAlterConfigsResponse: ...


def altered_configs(api: AnyApi, results: Iterable[Altered]) -> Any:
    """The response of one of the two."""
    result_of = api.response.AlterConfigsResourceResponse
    responses = [
        result_of(
            error_code=one.error_code,
            error_message=one.error_message,
            resource_type=one.resource_type,
            resource_name=one.resource_name,
        )
        for one in results
    ]
    return api.response(responses=responses)
