#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A host that reaches this machine by nothing but the ssh that came: with real packet filters that drop or reject. By TCP
# alone that is an error with host, cause and cure; else ssh carries the work, with the same bits. A cable that is pulled
# then leaves no worker.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/net/lab.sh"

lab_namespaces 3
PATH=$PATH:/usr/sbin:/sbin
command -v nft >/dev/null || tap_skip_all "nft is not installed"
lab_on 0 nft add table inet filter 2>/dev/null || tap_skip_all "the kernel has no nft"
lab_on 0 nft add chain inet filter input '{ type filter hook input priority 0; }'
wall() { lab_on 0 nft flush chain inet filter input && lab_on 0 nft add rule inet filter input iifname h1 tcp flags '&' '(syn|ack)' == syn "$@"; }

cp "$top_srcdir"/examples/cluster/*.* .
# ---- the cable ----
cp "$QCNN" copy
workers() { ps -eo pid=,stat=,args= | awk -v q="$PWD/copy" '$2 !~ /Z/ && $3 == q && $4 == "worker" { print $1 }'; }
(lab_exec 0 "$PWD/copy" train config.yaml --set log.dir="$PWD/long" $lab_options --set train.epochs=1000000 --transport=stdio -o never.bin --hosts h3 >out3 2>err3) &
coordinator=$!
tap_until 'grep -q "ready after" err3'
tap_is "$(workers | wc -w)" 2 "a worker and its guard"
lab_link 3 down

# ---- the filters ----
lab_train -o want.bin
for what in drop:Connection.timed.out reject:Connection.refused; do
	how=${what%:*}
	wall ${how%reject} $([ $how = drop ] || echo reject with tcp reset)
	got=0
	lab_train -o got.bin --hosts h1,h2 --transport=tcp || got=$?
	tap_is $got 69 "$how, by TCP alone"
	tap_ok "host, cause and cure are named" grep -q "h1\[0\].*cannot connect to the coordinator at 10.77.1.1:[0-9]*: ${what#*:} (a firewall blocks its connection to this machine: .*--transport=stdio" err ||
		tap_note "$(tail -2 err)"
	tap_ok "$how, as usual" lab_train -o got.bin --hosts h1,h2
	tap_ok "the same bits" cmp want.bin got.bin
	tap_ok "a note says so" grep -q "h1\[0\] cannot connect to the coordinator at .*: ${what#*:}; its standard input and output are used instead" err
	tap_ok "of the other host, none" sh -c '! grep -q "h2\[1\] cannot" err'
done


# ---- a host that ssh alone knows, by another ----
{ printf 'Host behind\n\tHostName behind.invalid\n\tProxyCommand ssh -W 10.77.1.2:22 h1\n'; cat "$lab/ssh_config"; } >"$lab/ssh_config.more"
mv "$lab/ssh_config.more" "$lab/ssh_config"
tap_ok "a host behind another" lab_train -o got.bin --hosts behind,h2 || tap_note "$(tail -3 err)"
tap_ok "the same bits" cmp want.bin got.bin
got=0
lab_train -o got.bin --hosts behind,h2 --transport=tcp || got=$?
tap_is $got 69 "by TCP alone it is unknown"
tap_has err "the host name behind is unknown" "and named"

tap_until '[ -z "$(workers)" ]'
tap_is "$(workers)" "" "a cable is pulled: no worker is left"
kill -9 $coordinator
wait $coordinator 2>/dev/null
tap_done
