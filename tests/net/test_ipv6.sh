#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Hosts that are IPv6 addresses, written in all the ways there are: bare, in brackets, with a user, a number of
# workers, the interface of a link-local address.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/net/lab.sh"

lab_namespaces 1
lab_on 1 ip -6 addr add fd77::2/64 dev up nodad 2>/dev/null && lab_on 0 ip -6 addr add fd77::1/64 dev h1 nodad 2>/dev/null ||
	tap_skip_all "no IPv6 addresses can be given"
lab_config v6 :: 2200
(lab_exec 1 "$lab_sshd" -D -e -f "$lab/sshd_config.v6" >"$lab/v6" 2>&1) &
sshd=$!
tap_until 'grep -q "Server listening" "$lab/v6"'
printf 'Host *:*\n\tPort 2200\n' >>"$lab/ssh_config"
cp "$top_srcdir"/examples/cluster/* .
train() {
	lab_on 0 timeout 120 "$QCNN" train config.yaml --set log.dir="$PWD/runs" --set log.report=false --set log.tensorboard=false \
		--set train.max_steps=3 --set train.restarts=1 --fresh --no-progress -o "$@" >out 2>err
}
train want.bin
link_local=$(lab_on 1 ip -6 -o addr show dev up scope link | sed -n 's|.*inet6 \([^/]*\)/.*|\1|p')
for host in fd77::2 '[fd77::2]' '[fd77::2]:2' "$(id -un)@[fd77::2]:2" "$(id -un)@fd77::2" ${link_local:+"[$link_local%h1]:2"}; do
	rm -f got.bin
	train got.bin --hosts "$host" || tap_note "$(tail -2 err)"
	tap_ok "--hosts $host" cmp want.bin got.bin
	case $host in *]:2) tap_has err "2 workers on 1 host" "two workers" ;; esac
done
kill $sshd
tap_done
