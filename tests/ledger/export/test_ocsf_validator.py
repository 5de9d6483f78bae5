"""The validator of OCSF events refuses what is wrong: every kind of rule once."""

import copy
import hashlib
from collections.abc import Callable
from typing import Any

import pytest

from tests.ledger.export.ocsf_validator import SCHEMA, problems, schema

Change = Callable[[dict[str, Any]], object]
CALL: dict[str, Any] = {
    "activity_id": 2,
    "activity_name": "Read",
    "actor": {"app_name": "an agent", "user": {"uid": "1", "email_addr": "a@b.example"}},
    "api": {"operation": "tools/call", "response": {"code": 1, "data": [1, None]}},
    "category_uid": 6,
    "class_uid": 6003,
    "duration": 1,
    "enrichments": [{"name": "a", "value": "b", "data": {}}],
    "metadata": {"version": "1.8.0", "product": {"name": "p"}, "profiles": ["security_control"], "is_truncated": False},
    "severity": "Low",
    "severity_id": 2,
    "src_endpoint": {"ip": "192.0.2.1", "port": 1},
    "status": "odd",
    "status_id": 99,
    "time": 1732345678901,
    "type_uid": 600302,
    "unmapped": {"what": {"ever": [None, 1.5]}},
    "action_id": 1,
}
SIGN_IN: dict[str, Any] = {
    "activity_id": 1,
    "category_uid": 3,
    "class_uid": 3002,
    "metadata": {"version": "1.8.0", "product": {"uid": "p"}},
    "service": {"name": "s"},
    "severity_id": 1,
    "time": 0,
    "type_uid": 300201,
    "user": {"name": "ada"},
}
FINDING: dict[str, Any] = {
    "activity_id": 1,
    "category_uid": 2,
    "class_uid": 2004,
    "finding_info": {"uid": "1"},
    "metadata": {"version": "1.8.0", "product": {"uid": "p"}},
    "severity_id": 1,
    "time": 0,
    "type_uid": 200401,
    "vulnerabilities": [{"cve": {"uid": "CVE-1"}}],
}


def at(path: str, value: object) -> Change:
    """Puts something at a place."""
    *steps, last = path.split(".")

    def change(event: dict[str, Any]) -> None:
        for step in steps:
            event = event[step]
        event[last] = value

    return change


def without(path: str) -> Change:
    *steps, last = path.split(".")

    def change(event: dict[str, Any]) -> None:
        for step in steps:
            event = event[step]
        del event[last]

    return change


WRONG: dict[str, tuple[dict[str, Any], Change, str]] = {
    "an attribute that nobody knows": (CALL, at("surprise", 1), "surprise: unknown"),
    "one in an object": (CALL, at("api.surprise", 1), "api.surprise: unknown"),
    "one of a profile that is not declared": (CALL, without("metadata.profiles"), "action_id: unknown"),
    "a profile that the class has not": (CALL, at("metadata.profiles", ["incident"]), "'incident' is none"),
    "no class": (CALL, at("class_uid", 7777), "class_uid: 7777 is no class"),
    "what is required is missing": (CALL, without("severity_id"), "severity_id: required"),
    "it is missing in an object": (CALL, without("api.operation"), "api.operation: required"),
    "none of what one is needed of": (SIGN_IN, without("service"), "at least one of service, dst_endpoint"),
    "none of it in an object": (SIGN_IN, at("user", {}), "user.: at least one of account, name, uid"),
    "two of what only one may be": (
        FINDING,
        at("vulnerabilities", [{"cve": {"uid": "C"}, "cwe": {"uid": "W"}}]),
        "just one of",
    ),
    "text in the place of a number": (CALL, at("time", "1"), "time: not a timestamp_t"),
    "a truth in the place of a number": (CALL, at("severity_id", True), "severity_id: not a integer_t"),
    "a number in the place of a text": (CALL, at("message", 1), "message: not a string_t"),
    "a number in the place of a truth": (
        CALL,
        at("metadata.is_truncated", 0),
        "metadata.is_truncated: not a boolean_t",
    ),
    "a fraction": (CALL, at("duration", 1.5), "duration: not a long_t"),
    "nothing": (CALL, at("message", None), "message: not a string_t"),
    "nothing in the place of anything": (CALL, at("api.response.data", None), "api.response.data: not a json_t"),
    "a text in the place of an object": (CALL, at("api", "x"), "api: not an object"),
    "a list in the place of an object": (CALL, at("unmapped", []), "unmapped: not an object"),
    "an object in the place of a list": (CALL, at("enrichments", {}), "enrichments: not an array"),
    "a list in the place of one": (CALL, at("api", []), "api: not an object"),
    "something wrong in a list": (
        CALL,
        at("enrichments", [{"name": "a", "data": 1}]),
        "enrichments[0].value: required",
    ),
    "more than 64 bits": (CALL, at("time", 2**63), "time: more than 64 bits"),
    "an address that is none": (CALL, at("src_endpoint.ip", "localhost"), "src_endpoint.ip: not of the form of a ip_t"),
    "an address that is too long": (
        CALL,
        at("src_endpoint.ip", "::1%" + "x" * 40),
        "src_endpoint.ip: longer than a ip_t",
    ),
    "mail to nobody": (CALL, at("actor.user.email_addr", "ada"), "actor.user.email_addr: not of the form"),
    "a port that there is not": (
        CALL,
        at("src_endpoint.port", 70000),
        "src_endpoint.port: outside the range of port_t",
    ),
    "a number that the enum has not": (CALL, at("severity_id", 7), "severity_id: 7 is none of the enum"),
    "another word than the number's": (CALL, at("severity", "High"), "severity: is not 'Low'"),
    "Other, and no word": (CALL, without("status"), "status: status_id is Other"),
    "Other, and only that": (CALL, at("status", "Other"), "status: status_id is Other"),
    "another type than class and activity make": (CALL, at("type_uid", 600301), "type_uid: is not class_uid * 100"),
    "another category": (CALL, at("category_uid", 3), "category_uid: is not the category"),
    "another version": (CALL, at("metadata.version", "1.7.0"), "metadata.version: not the version"),
    "what is deprecated": (CALL, at("actor.invoked_by", "x"), "actor.invoked_by: deprecated"),
}


@pytest.mark.parametrize("event", [CALL, SIGN_IN, FINDING], ids=["call", "sign-in", "finding"])
def test_what_is_right_has_no_problems(event: dict[str, Any]) -> None:
    assert problems(event) == []


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_is_refused(wrong: str) -> None:
    event, change, told = WRONG[wrong]
    changed = copy.deepcopy(event)
    change(changed)
    assert [each for each in problems(changed) if told in each], problems(changed)


@pytest.mark.parametrize("event", [None, [], "{}", 1])
def test_what_is_no_object_is_no_event(event: object) -> None:
    assert problems(event) == ["an event is an object"]


def test_the_schema_is_the_one_that_its_page_tells_of() -> None:
    readme = (SCHEMA.parent / "README.md").read_text()
    assert hashlib.sha256(SCHEMA.read_bytes()).hexdigest() in readme
    assert schema()["about"]["version"] == "1.8.0"
    assert {each["uid"] for each in schema()["classes"].values()} == {0, 1008, 2004, 3002, 3004, 6002, 6003}


def test_every_object_that_the_schema_names_is_there() -> None:
    things = [*schema()["classes"].values(), *schema()["objects"].values()]
    attributes = [each for thing in things for each in thing["attributes"].values()]
    assert {each["object_type"] for each in attributes if "object_type" in each} <= schema()["objects"].keys()
    assert {each["type"] for each in attributes} - {"object_t", "json_t"} <= schema()["types"].keys()
