#!/bin/sh
# memtrace, with the keys of object storage from files: the library that speaks with the storage takes them from the
# environment only, and a container's environment can be read by everyone who may look at containers.
set -eu

refuse() {
    echo "error: $1" >&2
    exit 2
}

for name in AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN; do
    eval "file=\${${name}_FILE:-} given=\${${name}:-}"
    [ -n "$file" ] || continue
    [ -z "$given" ] || refuse "$name and ${name}_FILE are both set: set one of them"
    value=$(cat -- "$file" 2>/dev/null) || refuse "${name}_FILE: $file can't be read"
    [ -n "$value" ] || refuse "${name}_FILE: $file is empty"
    export "$name=$value"
    unset "${name}_FILE"
done

exec "${0%/*}/../bin/memtrace" "$@"
