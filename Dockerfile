# The guard in an image: docker build --tag mcpguard .
# The base is any Debian or Ubuntu with Python 3.11 or newer and python3-venv; both stages need the same one.
ARG BASE=docker.io/library/python:3.13-slim-bookworm

FROM ${BASE} AS build
WORKDIR /src
COPY . .
# What builds the wheel stays behind in this stage.
RUN python3 -m venv /opt/build \
    && /opt/build/bin/pip install --quiet --no-cache-dir --require-hashes --requirement requirements-build.txt \
    && /opt/build/bin/python -m hatchling build --target wheel --directory /dist \
    && python3 -m venv /opt/mcpguard \
    && /opt/mcpguard/bin/pip install --quiet --no-cache-dir --require-hashes --requirement requirements.txt \
    && /opt/mcpguard/bin/pip install --quiet --no-cache-dir --no-deps --no-index /dist/*.whl

FROM ${BASE}
# bubblewrap is the sandbox of servers that the guard starts. Add what they need: --build-arg PACKAGES="bubblewrap nodejs npm"
ARG PACKAGES="bubblewrap"
RUN if ! dpkg --status ${PACKAGES} >/dev/null 2>&1; then \
        apt-get update --quiet && apt-get install --quiet --yes --no-install-recommends ${PACKAGES} \
        && rm -rf /var/lib/apt/lists/*; \
    fi \
    && groupadd --gid 10001 mcpguard \
    && useradd --uid 10001 --gid 10001 --home-dir /data --no-create-home --shell /usr/sbin/nologin mcpguard \
    && install --directory --owner 10001 --group 10001 --mode 700 /data
COPY --from=build /opt/mcpguard /opt/mcpguard
# Nothing here opens the guard: it listens on loopback until it has TLS, or knows its proxies.
ENV PATH=/opt/mcpguard/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    PYTHONDONTWRITEBYTECODE=1 \
    MCPGUARD_DATA_DIR=/data
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8080 8443
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s CMD ["mcpguard", "status", "--output", "json"]
ENTRYPOINT ["mcpguard"]
CMD ["serve"]
