#!/bin/sh
# Writes certificates for the connections between control plane and proxies, and the token of the admin ports, into `secrets` beside this file.
set -eu
cd "$(dirname "$0")"
# The directory is closed to other users; the files are mounted into containers, whose user must be able to read them.
mkdir -p -m 700 secrets
cd secrets
umask 022
[ -s admin-token ] || openssl rand -base64 32 > admin-token
# Certificates that expire within 30 days are replaced. `ca.crt` keeps the previous CA certificates, so that containers that run and
# those that start accept each other.
days=30
isFresh() { [ -s "$1" ] && openssl x509 -in "$1" -noout -checkend $((days * 86400)) > /dev/null; }
if ! isFresh ca.crt; then
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 365 \
    -subj '/CN=gateway CA' -keyout ca.key -out ca.new 2> /dev/null
  [ ! -s ca.crt ] || cat ca.crt >> ca.new
  mv ca.new ca.crt
  echo 'new CA certificate: secrets/ca.crt'
  rm -f control-plane.crt proxy.crt
fi
# The proxies may request the configuration of `gateway-proxy` alone.
proxyName=URI:spiffe://edge-gateway/ns/gw-system/proxy/gateway-proxy
hasNames() { openssl x509 -in "$1" -noout -ext subjectAltName 2> /dev/null | grep -q "$2"; }
for name in control-plane proxy; do
  names=DNS:$name
  [ "$name" = control-plane ] || names="$names,$proxyName"
  isFresh "$name.crt" && hasNames "$name.crt" "${names##*,}" && continue
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=$name" -keyout "$name.key" -out "$name.csr" 2> /dev/null
  printf 'subjectAltName=%s\n' "$names" > "$name.ext"
  openssl x509 -req -in "$name.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 90 -extfile "$name.ext" -out "$name.crt" 2> /dev/null
  rm "$name.csr" "$name.ext"
  echo "new certificate: secrets/$name.crt"
done
chmod 644 control-plane.key proxy.key
