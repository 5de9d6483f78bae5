"""A server that has everything the conformance suite's server scenarios ask for, made with the official Python SDK.

It is written as users of the SDK write servers: on `MCPServer` with its decorators, one program for both eras of the
protocol. The names of its tools, prompts and resources are the suite's.

    python -m tests.conformance.sdk_server              # on the standard streams
    python -m tests.conformance.sdk_server --port 8000  # over streamable HTTP; port 0 picks a free one
"""
