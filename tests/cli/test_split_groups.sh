# SPDX-License-Identifier: Apache-2.0
# Several groups of processes, each of which holds a state together and is one worker: the same bits, and groups that lose a
# process. A program that plays ssh starts the processes of all hosts here.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/split_hosts.sh"

make_agent "" "exec "

# ---- the same bits ----

train -o one.bin
# many RANKS HOSTS STARTED: what the program that plays ssh has started, by host.
many() {
	rm -f started
	: >started
	# shellcheck disable=SC2086
	tap_exit 0 "groups of $1 on $2" train $away --ranks="$1" --hosts="$2" -o many.bin
	cmp one.bin many.bin >cmp.out 2>&1
	tap_is $? 0 "give the weights of one process"
	tap_is "$(sort started | uniq -c | tr -s ' \n' ' ')" "$3" "and start processes there alone"
}
many 2 local:4 ""
many 4 local:8 ""
many 2 a:4 " 2 a "
many 4 a:3,b:5 " 1 a 2 b "
many 2 a,b,a,b " 1 a 1 b "
many 4 a,b " 1 a 2 b "
many 8 a " 1 a "
# shellcheck disable=SC2086
tap_exit 0 "without encryption" train $away --encrypt=off --ranks=2 --hosts=a,b,local:2 -o many.bin
cmp one.bin many.bin >cmp.out 2>&1
tap_is $? 0 "the same weights"
# shellcheck disable=SC2086
tap_exit 0 "a dry run" train --dry-run $away --ranks=2 --hosts=a:4
tap_has out "a, 2 groups: $PWD/agent a exec sh -c" "names groups"
tap_has out "2 of 2 ranks: the first rank of each starts the others" "and says what they are"
tap_has out "it is started again" "and what happens to one that loses a process"
tap_exit 0 "an inference" "$QCNN" infer -q --threads=1 --ranks=2 --hosts=local:4 one.bin
cp out groups
"$QCNN" infer -q one.bin >out
tap_same groups out "gives the predictions of one process"
echo "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8
1,2,3,4,5,6,7,8" >two.csv
tap_exit 0 "a run of groups" "$QCNN" run -q --ranks=2 --hosts=local:4 --data=two.csv --weights=one.bin cluster.qcnn
cp out groups
"$QCNN" run -q --ranks=2 --data=two.csv --weights=one.bin cluster.qcnn >out
tap_same groups out "gives the outputs of one group"
"$QCNN" bench --show --circuit=sel --qubits=18 >sel.qcnn
tap_exit 0 "a run of a worker" "$QCNN" run -q --hosts=local --emit=readouts sel.qcnn
cp out groups
"$QCNN" run -q --emit=readouts sel.qcnn >out
tap_same groups out "plans for outputs alone, as one process does"
tap_exit 2 "derivatives by workers" "$QCNN" run --emit=jacobian --hosts=local:2 --data=two.csv --weights=one.bin cluster.qcnn
tap_has err "workers, and several groups, compute outputs and readouts" "are refused"
tap_exit 0 "a measurement" "$QCNN" bench --circuit=qcnn --qubits=12 --runs=2 --batch=4 --gradient --threads=1 --ranks=2 --hosts=local:4
tap_has out "2 workers of 1 thread" "has two groups"

# ---- what cannot be ----

rm -rf runs
# shellcheck disable=SC2086
{
	tap_exit 78 "three processes for a state" train $away --ranks=3 --hosts=a:6
	tap_has err "--ranks takes a power of two, not " "are no power of two"
	tap_exit 78 "more processes than parts" train $away --ranks=4 --set=run.split=2 --hosts=local:8
	tap_has err "set run.split=4, too" "names the key"
	tap_exit 2 "processes left over" train $away --ranks=4 --hosts=local:6
	tap_has err "or several times as many for several groups" "says which numbers are possible"
	tap_exit 2 "a group that would start a process on local" train $away --ranks=2 --hosts=a,local,b:2
	tap_has err "a group that begins on a has a process on" "is named"
}
printf '#!/bin/sh\n[ "$1" != b ] || { echo "no way to b" >&2; exit 1; }\nshift\nexec sh -c "$*"\n' >half
chmod +x half
tap_exit 69 "a second process that cannot be started" train --launcher="exec:$PWD/half" --iface=lo --ranks=2 --hosts=a,b,c:2 --min-workers=2
tap_has err "rank 1 on b ended before it was ready (exit status 1): no way to b" "is named by the first"
tap_is "$(ls runs 2>/dev/null | wc -l)" 0 "nothing was trained"
tap_exit 0 "without --min-workers" train_aloud --launcher="exec:$PWD/half" --iface=lo --ranks=2 --hosts=a,b,c:2 --replacements=0
tap_has err "without 1 group of a, which will not be started again: rank 1 on b ended before it was ready (exit status 1): no way to b" "why the first does not"
rm -rf runs

# ---- a process that is lost ----

# After its third and fifth epoch the training waits until it has been hurt.
printf '#!/bin/sh\n: >held.$QCNN_EPOCH\ncase $QCNN_EPOCH in 3 | 5) while [ ! -e open.$QCNN_EPOCH ] && kill -0 $PPID 2>/dev/null; do sleep 0.05; done ;; esac\n' >gate
chmod +x gate
held="--set=train.epochs=8 --set=train.callbacks.command.run=[./gate] --set=train.callbacks.command.on=epoch"
long="--set=train.restarts=1 --set=run.split=2 --set=run.threads=1"
epochs() { cat runs/cluster-*/metrics.jsonl 2>/dev/null | wc -l; }
# The first processes of groups, and the others of one.
first_ones() { pgrep -P "$training" -x qcnn; }
others() { pgrep -P "$1" -x qcnn; }
: >open.3 >open.5
# shellcheck disable=SC2086
"$QCNN" train -q $long $held -o lone.bin config.yaml
rm -rf runs open.* held.*
# shellcheck disable=SC2086
"$QCNN" train $long $held --ranks=2 --hosts=local:4 -o groups.bin config.yaml 2>lost.err >/dev/null &
training=$!
tap_until '[ -e held.3 ]'
every_process() { first_ones; for group in $(first_ones); do others "$group"; done; }
groups=$(every_process)
# shellcheck disable=SC2046
kill -KILL $(others $(first_ones | head -n 1))
: >open.3
tap_until 'grep -q "local.* has been restarted" lost.err || ! kill -0 $training'
groups="$groups $(every_process)"
kill -KILL "$(first_ones | tail -n 1)"
: >open.5
wait $training
tap_is $? 0 "a training that loses the second process of a group, and the first of one, goes on"
tap_has lost.err "rank 1 has ended or left" "the rank is named"
tap_has lost.err "to others; it is started again in" "its work goes to others"
tap_has lost.err "has been restarted" "and the group is started again"
cmp lone.bin groups.bin >cmp.out 2>&1
tap_is $? 0 "the weights are those of one process"
# shellcheck disable=SC2086
tap_ok "none of its processes is left" tap_gone $groups
rm -rf runs
# shellcheck disable=SC2086
"$QCNN" train -q $long --set=train.epochs=1000000 --ranks=2 --hosts=local:4 --replacements=0 config.yaml 2>lost.err &
training=$!
tap_until '[ "$(epochs)" -gt 2 ]'
# shellcheck disable=SC2046
kill -KILL $(for group in $(first_ones); do others "$group"; done)
wait $training
tap_is $? 69 "without any group the training ends with 69"
tap_has lost.err "all workers are lost" "and says why"
# shellcheck disable=SC2086
"$QCNN" train $long --set=train.epochs=1000000 --ranks=2 --hosts=local:4 config.yaml 2>again.err >/dev/null &
training=$!
tap_until 'grep -q resum again.err || ! kill -0 $training'
tap_has again.err "resum" "the same command goes on from its checkpoint"
kill -INT $training
wait $training
tap_is $? 75 "until it is stopped"
tap_done
