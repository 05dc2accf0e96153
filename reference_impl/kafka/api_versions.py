"""ApiVersions: how a client learns what it may ask.

The one request whose version may be unknown: it is answered in version 0 with UNSUPPORTED_VERSION
and the versions of ApiVersions itself, so that the client can ask again.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from reference_impl.kafka.apis import API_VERSIONS, AnyApi
from reference_impl.kafka.errors import ErrorCode

if TYPE_CHECKING:
    from reference_impl.kafka.messages import ApiVersionsRequest, ApiVersionsResponse

_SOFTWARE: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
_NAMES_ITS_SOFTWARE: Final = 3  # from this version on a client says what it is
_ZERO_ALLOWED: Final = 4  # before this version, no feature may begin at 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """Features of a cluster: name to lowest and highest level; and the levels agreed on."""

    supported: Mapping[str, tuple[int, int]]
    finalized: Mapping[str, int]
    epoch: int


NO_FEATURES: Final = Features(supported={}, finalized={}, epoch=-1)


def answer_api_versions(
    version: int,
    request: ApiVersionsRequest,
    offered: Iterable[AnyApi],
    features: Features = NO_FEATURES,
) -> ApiVersionsResponse:
    """What is offered; ApiVersions always is."""
    if version >= _NAMES_ITS_SOFTWARE and not _well_named(request):
        return API_VERSIONS.response(error_code=ErrorCode.invalid_request)
    apis = {api.key: api for api in (API_VERSIONS, *offered)}
    return API_VERSIONS.response(
        api_keys=[_named(apis[key]) for key in sorted(apis)],
        supported_features=_supported(version, features),
        finalized_features_epoch=features.epoch,
        finalized_features=_finalized(features),
    )


def api_versions_handler(
    offered: Iterable[AnyApi], features: Callable[[], Features]
) -> Callable[[Any, ApiVersionsRequest], Awaitable[ApiVersionsResponse]]:
    """A handler for a node that has features to tell of."""
    apis = tuple(offered)

    async def handle(context: Any, request: ApiVersionsRequest) -> ApiVersionsResponse:
        return answer_api_versions(context.version, request, apis, features())

    return handle


def unsupported_version() -> ApiVersionsResponse:
    """The answer, in version 0, to a version that nobody here knows."""
    return API_VERSIONS.response(
        error_code=ErrorCode.unsupported_version, api_keys=[_named(API_VERSIONS)]
    )


def _well_named(request: ApiVersionsRequest) -> bool:
    names = (request.client_software_name, request.client_software_version)
    return all(_SOFTWARE.fullmatch(name) for name in names)


def _named(api: AnyApi) -> ApiVersionsResponse.ApiVersion:
    return API_VERSIONS.response.ApiVersion(
        api_key=api.key, min_version=api.named_from, max_version=api.versions[-1]
    )


def _supported(version: int, features: Features) -> list[ApiVersionsResponse.SupportedFeatureKey]:
    key = API_VERSIONS.response.SupportedFeatureKey
    return [
        key(name=name, min_version=lowest, max_version=highest)
        for name, (lowest, highest) in features.supported.items()
        if lowest > 0 or version >= _ZERO_ALLOWED
    ]


def _finalized(features: Features) -> list[ApiVersionsResponse.FinalizedFeatureKey]:
    key = API_VERSIONS.response.FinalizedFeatureKey
    return [
        key(name=name, min_version_level=level, max_version_level=level)
        for name, level in features.finalized.items()
    ]
