# The image of the server, its workers and the command line. docs/deploy.md says how to pin the base by its digest.
ARG PYTHON_IMAGE=python:3.12-slim-trixie

FROM ${PYTHON_IMAGE} AS build
ENV UV_COMPILE_BYTECODE=1 \
    UV_LINK_MODE=copy \
    UV_NO_CACHE=1 \
    UV_PYTHON_DOWNLOADS=never
WORKDIR /src
# What changes seldom comes first: a change of the code installs no package again.
COPY pyproject.toml requirements.lock requirements-uv.lock ./
RUN pip install --no-cache-dir --require-hashes -r requirements-uv.lock \
    && uv venv --python /usr/local/bin/python3 /opt/memtrace \
    && echo memtrace-recorder > /own.txt \
    && uv pip install --python /opt/memtrace --require-hashes --only-binary :all: \
        --constraints requirements.lock --excludes /own.txt --requirements pyproject.toml --extra fast --extra otel
COPY LICENSE README.md ./
COPY schema schema
COPY store store
COPY ingest ingest
COPY attribution attribution
COPY optimization optimization
COPY api api
COPY memtrace_platform.py ./
COPY sdk sdk
RUN uv build --wheel --require-hashes --build-constraints requirements.lock --out-dir /wheels . \
    && uv build --wheel --require-hashes --build-constraints requirements.lock --out-dir /wheels sdk \
    && uv pip install --python /opt/memtrace --no-deps --no-index --find-links /wheels memtrace-recorder memtrace-platform

FROM ${PYTHON_IMAGE}
LABEL org.opencontainers.image.title="MemTrace" \
      org.opencontainers.image.description="Causal graphs of LLM memory systems: record, keep, explain." \
      org.opencontainers.image.licenses="Apache-2.0"
# The user's folder is the only one that it may write to: uploads and databases of SQLite lie there.
RUN groupadd --gid 10001 memtrace \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /var/lib/memtrace --shell /usr/sbin/nologin memtrace \
    && install --directory --owner 10001 --group 10001 --mode 0700 /var/lib/memtrace
COPY --from=build /opt/memtrace /opt/memtrace
COPY --chmod=0755 docker/entrypoint.sh /opt/memtrace/entrypoint/memtrace
ENV PATH="/opt/memtrace/entrypoint:/opt/memtrace/bin:${PATH}" \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    TMPDIR=/var/lib/memtrace
USER 10001:10001
WORKDIR /var/lib/memtrace
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["python", "-c", \
    "import http.client as h; c = h.HTTPConnection('127.0.0.1', 8080, timeout=3); c.request('GET', '/healthz'); raise SystemExit(c.getresponse().status != 200)"]
ENTRYPOINT ["memtrace"]
CMD ["serve", "--host", "0.0.0.0"]
