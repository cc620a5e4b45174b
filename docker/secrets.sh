#!/bin/sh
# Makes the secrets of docker-compose.yml at random, in ./secrets or the folder that is named. What is there stays.
set -eu
umask 077

folder=${1:-secrets}
if [ -e "$folder" ]; then
    echo "error: $folder is there already; secrets in use must not change under the services" >&2
    exit 1
fi

random() { # bytes, as hexadecimal digits
    od -An -v -tx1 -N "$1" /dev/urandom | tr -d ' \n'
}

new=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf -- "$new"' EXIT
trap 'exit 1' HUP INT TERM
password=$(random 24)
nats_password=$(random 24)
access_key=$(random 10)
secret_key=$(random 32)

printf '%s\n' "$password" > "$new/neo4j_password.txt"
printf 'neo4j/%s\n' "$password" > "$new/neo4j_auth.txt"
printf '%s\n' "$nats_password" > "$new/nats_password.txt"
printf 'authorization { user: "memtrace", password: "%s" }\n' "$nats_password" > "$new/nats_user.conf"
printf '%s\n' "$access_key" > "$new/s3_access_key.txt"
printf '%s\n' "$secret_key" > "$new/s3_secret_key.txt"
cat > "$new/s3_identities.json" <<END
{
  "identities": [
    {
      "name": "memtrace",
      "credentials": [{"accessKey": "$access_key", "secretKey": "$secret_key"}],
      "actions": ["Read:memtrace", "Write:memtrace", "List:memtrace"]
    }
  ]
}
END

# Each service runs as a user of its own, and Compose hands a file over as it is: files that only their owner may read
# could not be read by any of them. The folder keeps everybody else on this machine out.
chmod 444 "$new"/*
mv "$new" "$folder"
trap - EXIT
echo "The secrets are in $folder." >&2
