"""The table of requests says who answers what, and they do."""

from __future__ import annotations

from reference_impl.broker.broker import ANSWERING
from reference_impl.controller.controller import FLOWS
from reference_impl.kafka.apis import (
    API_VERSIONS,
    BROKER,
    CONTROLLER,
    FETCH,
    PRODUCE,
    TXN_OFFSET_COMMIT,
    offered_by,
)

EVERYBODY = {FETCH, API_VERSIONS}


def test_brokers_answer_what_they_offer_and_nothing_else() -> None:
    assert set(offered_by(BROKER)) == {*ANSWERING, *EVERYBODY, PRODUCE, TXN_OFFSET_COMMIT}


def test_the_controller_answers_what_it_offers_and_nothing_else() -> None:
    assert set(offered_by(CONTROLLER)) == {*FLOWS, *EVERYBODY}
