#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Work that is carried by the workers' standard input and output: the same bits, behind noise too; who breaks the rules is
# named; whatever process ends, nothing is left.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/net/lab.sh"
. "$top_srcdir/tests/net/held_training.sh"

lab_open 2 || tap_skip_all "$lab_why"
cp "$top_srcdir"/examples/cluster/*.* .
lab_train -o want.bin
same() {
	name=$1
	shift
	tap_ok "$name" lab_train -o got.bin --transport=stdio "$@" || tap_note "$(tail -3 err)"
	tap_ok "the same bits" cmp want.bin got.bin
}
same "ssh and this machine" --hosts h1:2,h2,local
same "without encryption" --hosts h1,h2 --encrypt=off
tap_ok "cluster.transport" lab_train -o got.bin --set cluster.transport=stdio --hosts local:2
tap_ok "the same bits" cmp want.bin got.bin

# What others say before the worker does, with and without an end of line, and beginnings of marks.
cat >noisy <<END
#!/bin/sh
printf 'Welcome to this host\n\001QCNN \001QC\001\nno end of line'
echo "and an error" >&2
exec "$QCNN" "\$@"
END
chmod +x noisy
same "behind a greeting" --hosts h1,h2 --remote-path "$PWD/noisy"
tap_has err "h1[0]: Welcome to this host" "which is shown"
tap_has err "h2[1]: and an error" "as is the standard error"

# Agents that are no worker: PIPE and what no frame is; PIPE and nothing; a frame that is no HELLO; another key.
printf '#!/bin/sh\nprintf "\\001QCNN PIPE\\n"; head -c 100000 /dev/zero; exec sleep 1000\n' >zeros
printf '#!/bin/sh\nprintf "\\001QCNN PIPE\\n"; exit 3\n' >short
printf '#!/bin/sh\nprintf "\\001QCNN PIPE\\n\\010\\000\\000\\000\\002QCNNWIR"; exec sleep 1000\n' >untrue
lab_turning_agent otherkey
chmod +x zeros short untrue
for agent in zeros:77 short:69 untrue:77 otherkey:77; do
	got=0
	lab_train -o got.bin --transport=stdio --hosts h1 --launcher "exec:$PWD/${agent%:*}" || got=$?
	tap_is $got ${agent#*:} "${agent%:*}: refused"
	tap_has err "h1[0]" "and named"
done

# ---- ends ----
# A copy of the program tells its processes from those of other tests.
cp "$QCNN" copy
workers() { ps -eo pid=,stat=,args= | awk -v q="$PWD/copy" '$2 !~ /Z/ && $3 == q && $4 == "worker" { print $1 }'; }
run() {
	"$@" train config.yaml --set log.dir="$PWD/long" --set log.report=false --set log.tensorboard=false --set cluster.start_seconds=100 \
		--set run.threads=1 --no-progress --fresh $hold_options -o "$out" $hosts >out 2>err
}
# begin OPTIONS
begin() {
	rm -f got.bin err
	hold_training
	out=got.bin hosts="--transport=stdio $*"
	(run lab_exec 0 "$PWD/copy") &
	coordinator=$!
	tap_until 'grep -q "ready after" err || ! kill -0 $coordinator'
}
gone() {
	tap_until '[ -z "$(workers)" ]'
	tap_is "$(workers)" "" "$1"
}
hold_options 400
release_training
out=calm.bin hosts=
run "$QCNN"
begin --hosts h1,h2
tap_is "$(workers | wc -w)" 4 "two workers, with a guard each"
kill -9 $(workers | sed -n '$p')
tap_until 'grep -q "is lost" err'
kill -9 $(ps -o pid=,comm= --ppid $coordinator | awk '$2 == "ssh" { print $1; exit }')
tap_until '[ $(grep -c "is lost" err) -ge 2 ]'
release_training
status=0
wait $coordinator || status=$?
tap_is $status 0 "a worker is killed, and an ssh"
tap_is "$(grep -c 'is lost: its ssh ended with' err)" 2 "both are told of"
tap_ok "the same bits" cmp calm.bin got.bin
gone "no worker is left"

# An agent whose input breaks before the rest of it ends: why it ended is told, and not that a write failed.
cat >breaks <<END
#!/bin/sh
shift
[ ! -e broken ] || exec sh -c "\$*"
exec 3<&0
sh -c "\$*" <&3 &
while [ ! -e broken ]; do sleep 0.05; done
"$top_builddir/tests/net/no_reader"
: >deaf.\$\$
sleep 0.2  # the end of a process is waited for no longer than 3 s
exit 5
END
chmod +x breaks
begin --hosts h1:2 --launcher "exec:$PWD/breaks"
: >broken
tap_until '[ $(ls | grep -c deaf) -ge 2 ]'
release_training
status=0
wait $coordinator || status=$?
tap_is $status 0 "inputs of two agents break, then they end"
tap_is "$(grep -c 'is lost: its launcher ended with exit status 5' err)" 2 "as is reported" || tap_note "$(cat err)"
tap_ok "the same bits" cmp calm.bin got.bin
gone "no worker is left"
begin --hosts h1,h2
kill -9 $coordinator
gone "the coordinator is killed: no worker is left"
wait $coordinator 2>/dev/null
tap_done
