"""The fixture's tools, and its prompt, that ask the client something: by a request, or by input that is required."""

import base64
import hashlib
import hmac
import json
from typing import TYPE_CHECKING

from tests.conformance.fixture_content import prompt, said
from tests.simulators.asked import CAPABILITY_OF, Asked
from tests.simulators.built_in import elicitation, schema
from tests.simulators.words import INVALID_PARAMS, Json, RpcError, text

if TYPE_CHECKING:
    from tests.simulators.script import Answer

_KEY = b"nobody keeps anything behind this"
STRING: Json = {"type": "string"}
BOOLEAN: Json = {"type": "boolean"}
ROOTS: Json = {"method": "roots/list", "params": {}}
NO_ARGUMENTS: Json = {"inputSchema": schema()}

DEFAULTS: Json = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
OPTIONS = ["option1", "option2", "option3"]
TITLED = [{"const": f"value{number}", "title": f"Number {number}"} for number in (1, 2, 3)]
CHOICES: Json = {
    "untitledSingle": {"type": "string", "enum": OPTIONS},
    "titledSingle": {"type": "string", "oneOf": TITLED},
    "legacyEnum": {"type": "string", "enum": OPTIONS, "enumNames": ["One", "Two", "Three"]},
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": OPTIONS}},
    "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
}


def sampling(question: str, most: int = 100) -> Json:
    """The request that asks the client's model."""
    messages = [{"role": "user", "content": said(question)}]
    return {"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": most}}


def sealed(state: Json) -> str:
    """The state as the client gets it: it can read it, and cannot change it."""
    body = base64.urlsafe_b64encode(json.dumps(state, sort_keys=True).encode())
    return f"{body.decode()}.{hmac.new(_KEY, body, hashlib.sha256).hexdigest()}"


def opened(asked: Asked) -> Json:
    """The state that came back; none at the first time."""
    if asked.state is None:
        return {}
    body, _, seal = asked.state.rpartition(".")
    if not hmac.compare_digest(hmac.new(_KEY, body.encode(), hashlib.sha256).hexdigest(), seal):
        raise RpcError(INVALID_PARAMS, "this requestState is not what it was")
    state: Json = json.loads(base64.urlsafe_b64decode(body))
    return state


async def needed(asked: Asked, requests: Json, state: Json | None = None) -> Json:
    """The client's answers. A legacy client that cannot give them gets an error of the protocol."""
    missing = {CAPABILITY_OF[each["method"]] for each in requests.values()} - asked.capabilities.keys()
    if missing and not asked.modern:
        raise RpcError(INVALID_PARAMS, f"the client cannot do {', '.join(sorted(missing))}")
    return await asked.need(requests, None if state is None else sealed(state))


async def _sample(asked: Asked) -> Json:
    answer = (await needed(asked, {"answer": sampling(asked.arguments.get("prompt", ""))}))["answer"]
    return text(f"The model says: {answer['content'].get('text', '')}")


async def _elicit(asked: Asked) -> Json:
    form = elicitation(asked.arguments.get("message", ""), "username", "email", username=STRING, email=STRING)
    return _heard((await needed(asked, {"form": form}))["form"])


async def _elicit_defaults(asked: Asked) -> Json:
    return _heard((await needed(asked, {"form": elicitation("Is this right?", **DEFAULTS)}))["form"])


async def _elicit_choices(asked: Asked) -> Json:
    return _heard((await needed(asked, {"form": elicitation("Choose.", **CHOICES)}))["form"])


async def _name(asked: Asked) -> Json:
    form = elicitation("What is your name?", "name", name=STRING)
    return text(f"Good day, {_content(await needed(asked, {'user_name': form}), 'user_name').get('name')}!")


async def _capital(asked: Asked) -> Json:
    answer = (await needed(asked, {"capital_question": sampling("What is the capital of France?")}))["capital_question"]
    return text(f"The model says: {(answer.get('content') or {}).get('text', '')}")


async def _roots(asked: Asked) -> Json:
    roots = (await needed(asked, {"client_roots": ROOTS}))["client_roots"].get("roots", [])
    return text(f"The roots are {', '.join(root['uri'] for root in roots)}.")


async def _state(asked: Asked) -> Json:
    state = opened(asked)
    await needed(asked, {"confirm": elicitation("Is it so?", "ok", ok=BOOLEAN)}, {"asked": "once"})
    return text("state-ok" if state or not asked.modern else "there was no state")


async def _several(asked: Asked) -> Json:
    opened(asked)
    requests = {
        "user_name": elicitation("What is your name?", "name", name=STRING),
        "greeting": sampling("Greet somebody.", 50),
        "client_roots": ROOTS,
    }
    heard = await needed(asked, requests, {"asked": sorted(requests)})
    return text(f"Heard: {', '.join(sorted(heard))}.")


async def _rounds(asked: Asked) -> Json:
    state = opened(asked)
    if "name" not in state:
        first = await needed(asked, {"step1": elicitation("1: your name?", "name", name=STRING)}, {"round": 1})
        state = {"round": 2, "name": _content(first, "step1").get("name")}
    second = await needed(asked, {"step2": elicitation("2: your colour?", "color", color=STRING)}, state)
    return text(f"{state['name']} likes {_content(second, 'step2').get('color')}.")


async def _what_it_can(asked: Asked) -> Json:
    possible = {"question": sampling("Are you there?"), "form": elicitation("Are you there?", ok=BOOLEAN)}
    requests = {name: each for name, each in possible.items() if CAPABILITY_OF[each["method"]] in asked.capabilities}
    return text(f"Heard: {', '.join(await needed(asked, requests))}.")


async def _prompt(asked: Asked) -> Json:
    form = elicitation("What is it about?", "context", context=STRING)
    context = _content(await needed(asked, {"user_context": form}), "user_context").get("context")
    return prompt(said(f"It is about {context}."))


def _heard(answer: Json) -> Json:
    return text(f"action={answer['action']}, content={json.dumps(answer.get('content', {}))}")


def _content(answers: Json, name: str) -> Json:
    return answers[name].get("content") or {}


PROMPT = "test_input_required_result_prompt"
PROMPTS: list[Json] = [{"name": PROMPT, "description": "Asks what it is about."}]
TOOLS: dict[str, tuple["Answer", Json]] = {
    "test_sampling": (_sample, {"inputSchema": schema("prompt", prompt=STRING)}),
    "test_elicitation": (_elicit, {"inputSchema": schema("message", message=STRING)}),
    "test_elicitation_sep1034_defaults": (_elicit_defaults, NO_ARGUMENTS),
    "test_elicitation_sep1330_enums": (_elicit_choices, NO_ARGUMENTS),
    "test_streaming_elicitation": (_name, NO_ARGUMENTS),
    "test_input_required_result_elicitation": (_name, NO_ARGUMENTS),
    "test_input_required_result_sampling": (_capital, NO_ARGUMENTS),
    "test_input_required_result_list_roots": (_roots, NO_ARGUMENTS),
    "test_input_required_result_request_state": (_state, NO_ARGUMENTS),
    "test_input_required_result_tampered_state": (_state, NO_ARGUMENTS),
    "test_input_required_result_multiple_inputs": (_several, NO_ARGUMENTS),
    "test_input_required_result_multi_round": (_rounds, NO_ARGUMENTS),
    "test_input_required_result_capabilities": (_what_it_can, NO_ARGUMENTS),
}
ANSWERS: dict[str, "Answer"] = {f"prompts/get {PROMPT}": _prompt}
