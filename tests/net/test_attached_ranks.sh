#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Processes that others have started together hold each state together: --ranks; several times as many are several groups. The test
# plays the launcher, as test_attached.sh does. The same bits as one process; only rank 0 prints and writes; none is left, however it ends.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/net/launched.sh"
. "$top_srcdir/tests/net/ports.sh"
. "$top_srcdir/tests/net/held_training.sh"

cp "$top_srcdir"/examples/cluster/* .
"$QCNN" worker --new-key key
take_ports || tap_note "no ports are free"
few="-q --fresh --set=train.epochs=2 --set=train.restarts=2 --set=data.rounds=1 --set=run.split=8 --set=run.threads=1"

# Of ranks in one place: shared memory. Of others: those that connect to 127.0.0.2 do so from 127.0.0.1, and are taken for ranks of
# another host: TCP.
here() { echo PMI_RANK=$1 PMI_SIZE=$2 MPI_LOCALNRANKS=$2; }
away() { echo RANK=$1 WORLD_SIZE=$2 MASTER_ADDR=127.0.0.2 MASTER_PORT=$port; }
# start_ranks PLACE N COMMAND...: leaves RANK.out and RANK.err.
start_ranks() {
	port=$((port + 1))
	rm -f [0-9].out [0-9].err
	launch "" "$@"
}
silent() { cat [1-9].out [1-9].err; }

# ---- the same bits ----

"$QCNN" train $few -o one.bin config.yaml
"$QCNN" infer -q --threads=1 --json one.bin >want.json
for place in here away; do
	more=
	[ $place = here ] || more=--key-file=key
	for n in 2 8; do
		rm -rf many.bin runs
		ranks $place $n timeout 100 "$QCNN" train $few --ranks=$n $more -o many.bin config.yaml
		tap_is "$(echo $statuses | tr ' ' '\n' | sort -u)" 0 "$n ranks, $place" || tap_note "$(cat ?.err)"
		tap_ok "give the weights of one process" cmp one.bin many.bin
		tap_is "$(silent)$(ls -A runs | wc -l)" 2 "and one of them alone prints and writes"
	done
	rm -rf many.bin runs
	ranks $place 4 timeout 100 "$QCNN" train ${few#-q} --no-progress --set=log.profile_steps='[1, 2]' --ranks=2 $more -o many.bin config.yaml
	tap_is "$statuses$(silent)" " 0 0 0 0" "two groups of two ranks, $place" || tap_note "$(cat ?.err)"
	tap_has 0.err "2 groups of 2 ranks, ready" "as rank 0 says"
	tap_is "$(grep -o '"role": "worker"\|"lost": true' runs/latest/profile/steps-1-2/profile.json | tr '\n' ' ')" '"role": "worker" "role": "worker" ' "a profile has the first rank of each"
	tap_ok "give the weights of one process" cmp one.bin many.bin
	ranks $place 4 timeout 100 "$QCNN" infer -q --threads=1 --json --ranks=2 $more one.bin
	tap_same 0.out want.json "and its predictions"
	ranks $place 4 timeout 100 "$QCNN" infer -q --threads=1 --json --ranks=4 $more one.bin
	tap_same 0.out want.json "an inference, $place, gives the predictions of one process"
	tap_is "$statuses$(silent)" " 0 0 0 0" "once"
done
# ---- qcnn run ----

echo "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8
1,2,3,4,5,6,7,8
8,7,6,5,4,3,2,1" >three.csv
run="run -q --data=three.csv --weights=one.bin"
"$QCNN" $run --ranks=2 cluster.qcnn >want.out
ranks here 4 "$QCNN" $run --ranks=2 cluster.qcnn
tap_same 0.out want.out "two groups run a model as two ranks do"
tap_is "$statuses$(silent)" " 0 0 0 0" "once" || tap_note "$(cat ?.err)"
"$QCNN" $run --emit=jacobian --ranks=4 cluster.qcnn >want.out
ranks away 4 "$QCNN" $run --emit=jacobian --ranks=4 --key-file=key cluster.qcnn
tap_same 0.out want.out "one group gives the derivatives of four ranks"
ranks here 4 "$QCNN" $run --emit=jacobian --ranks=2 cluster.qcnn
tap_is "$statuses$(silent)" " 2 2 2 2" "which groups do not give"
tap_has 0.err "for --emit=jacobian start as many processes as --ranks" "as rank 0 says"
bench="bench --circuit=qcnn --qubits=12,13 --runs=2 --gradient --threads=1"
ranks away 4 timeout 100 "$QCNN" $bench --ranks=4 --key-file=key
tap_is "$statuses $(grep -c '^qcnn gradient  *1[23] ' 0.out)$(silent)" " 0 0 0 0 2" "bench measures both of its cases with the same processes" ||
	tap_note "$(cat ?.err)"
tap_is "$(grep -c workers 0.out)" 0 "of which none is a worker"
ranks here 4 timeout 100 "$QCNN" $bench --batch=4 --ranks=2
tap_is "$statuses $(grep -c 'on 1[23] qubits, batch 4, 2 workers of 1 thread' 0.out)$(silent)" " 0 0 0 0 2" "and so with two groups" || tap_note "$(cat ?.err)"
ranks away 4 timeout 100 "$QCNN" train $few --encrypt=off --ranks=4 --key-file=key -o many.bin config.yaml
tap_is "$statuses" " 0 0 0 0" "without encryption" || tap_note "$(cat ?.err)"
tap_ok "the same weights" cmp one.bin many.bin
crowd="--set=run.threads=$((4 * $(getconf _NPROCESSORS_ONLN)))"
ranks here 2 timeout 100 "$QCNN" train ${few#-q} --dry-run $crowd --ranks=2 config.yaml
tap_has 0.out "processes 2, which find rank 0 by" "a dry run names the processes"
tap_has 0.out "the training ends with what was saved before the step, and status 75" "and what happens if one is lost"
tap_has 0.err "2 processes that mpiexec has started form one job, and each holds a part of the states" "rank 0 says how it was started"
tap_ok "a note says that two ranks have too many threads" grep -q '2 ranks with [0-9]* threads each run on' 0.err
ranks here 4 timeout 100 "$QCNN" train ${few#-q} --dry-run $crowd --ranks=2 config.yaml
tap_ok "and so are those of groups" grep -q '4 ranks with [0-9]* threads each run on the .* of this machine, which is slow' 0.err
tap_has 0.out "groups    2 of 2 ranks: ranks of a host are in one group" "or their groups"
tap_has 0.out "its units go to the other groups, and the weights stay the same" "with what happens to their work"

# ---- what cannot be ----

ranks here 3 "$QCNN" train $few --ranks=2 config.yaml
tap_is "$statuses$(silent)" " 2 2 2" "two ranks of three processes"
tap_has 0.err "--ranks is 2, and mpiexec has started 3 processes (PMI_RANK is 0, PMI_SIZE is 3)" "both numbers are named"
ranks here 3 "$QCNN" train $few --ranks=3 config.yaml
tap_is "$statuses$(silent)" " 78 75 75" "three processes for a state"
tap_has 0.err "--ranks takes a power of two, not " "are no power of two"
ranks here 2 "$QCNN" train $few --ranks=2 --set=run.split=1 config.yaml
tap_is "$statuses$(silent)" " 78 75" "more processes than parts"
tap_has 0.err "set run.split=2, too" "the key is named"
ranks here 4 timeout 100 "$QCNN" train $few --ranks=2 --set=run.split=1 config.yaml
tap_is "$statuses$(silent)" " 78 75 75 75" "the same of groups"
env $(here 0 2) "$QCNN" train $few --ranks=2 --wait=1 config.yaml >out 2>err
tap_is $? 69 "a rank does not come"
tap_has err "rank 1 has not come within 1 s" "it is named"

# ---- groups that lose a process ----

lone="--set=data.rounds=1 --set=run.split=2 --set=run.threads=1"
epochs() { cat runs/cluster-*/metrics.jsonl 2>/dev/null | wc -l; }
# some PLACE OPTIONS...: a training of two groups, which has begun.
some() {
	place=$1
	shift
	start_ranks $place 4 "$QCNN" train --no-progress $lone "$@" --ranks=2 --key-file=key -o many.bin config.yaml
	tap_until "[ \$(epochs) -gt 2 ] || ! kill -0 $(echo $pids | cut -d' ' -f1)"
}
kill_rank() { kill -KILL $(echo $pids | cut -d' ' -f$((1 + $1))); }
hold_options 40
long="--set=train.epochs=1000000 --set=train.restarts=1"
release_training
"$QCNN" train -q $lone $hold_options -o one.bin config.yaml
# hurt PLACE RANK: kills it before the training is over.
hurt() {
	rm -rf runs
	hold_training
	some $1 $hold_options
	kill_rank $2
	release_training
	end_ranks
}
hurt here 3
# The group's first one may get no unit between that and the end.
case $statuses$(silent) in " 0 0 75 137" | " 0 0 0 137") ended=well ;; *) ended="$statuses$(silent)" ;; esac
tap_is "$ended" well "the second process of a group is killed" || tap_note "$(cat ?.err)"
tap_ok "the weights are those of one process" cmp one.bin many.bin
hurt away 1
tap_is "$statuses$(silent)" " 0 137 0 0" "the first process of a group is killed" || tap_note "$(cat ?.err)"
tap_ok "the weights are the same" cmp one.bin many.bin
rm -rf runs
some here $long
kill -KILL $(pgrep -P $(echo $pids | cut -d' ' -f1) -x qcnn)
tap_until "grep -q 'local.* is lost' 0.err"
kill_rank 3
end_ranks
tap_is "$statuses$(silent)" " 69 75 75 137" "without any group rank 0 ends with 69"
tap_ok "the group's first one names the other" grep -q 'rank 1 has ended or left' 0.err
tap_has 0.err "all workers are lost" "and says why"
some here $long
tap_until 'grep -q resum 0.err'
kill -TERM $pids
end_ranks
tap_is "$statuses$(silent)" " 75 75 75 75" "the same command goes on, until all get TERM"
rm -rf runs
some here $long
kill -KILL $pids
end_ranks
some here $long
tap_until 'grep -q "after step 1 " 0.err'
kill -TERM $pids
end_ranks
tap_has 0.err "after step 1 " "there is a checkpoint of the first step of groups"

# ---- ends ----

rm -rf runs
long="-q --set=train.epochs=1000000 --set=train.restarts=1 --set=data.rounds=1 --set=run.split=4 --set=run.threads=1 --ranks=4 --key-file=key config.yaml"
# begin PLACE N: waits until more than N epochs are logged, or the training has ended.
begin() {
	start_ranks $1 4 "$QCNN" train $long
	set -- $2 $pids
	tap_until "[ \$(epochs) -gt $1 ] || ! kill -0 $2"
}
for place in here away; do
	begin $place "$(epochs)"
	shared=$(ls -l /proc/$(echo $pids | cut -d' ' -f2)/fd | grep -c memfd:)
	tap_is "$place $([ $shared -gt 0 ] && echo shared)" "$([ $place = here ] && echo here shared || echo 'away ')" "ranks of one host share memory, others do not"
	kill -KILL $(echo $pids | cut -d' ' -f3)
	end_ranks
	tap_is "$statuses$(silent)" " 75 75 137 75" "a rank is killed, $place"
	tap_ok "it is named" grep -q 'rank 2 has ended' 0.err
	tap_has 0.err "the same command resumes behind step" "and how to go on is said"
	begin $place "$(epochs)"
	kill -TERM $pids
	end_ranks
	tap_is "$statuses$(silent)" " 75 75 75 75" "the same command goes on, until all get TERM"
	tap_has 0.err "stopped by TERM" "rank 0 saves"
	begin $place "$(epochs)"
	kill -KILL $(echo $pids | cut -d' ' -f1)
	tap_ok "when rank 0 is killed the others go" tap_gone $pids
	end_ranks
	tap_is "$statuses$(silent)" " 137 75 75 75" "with 75"
done
tap_is "$(ls -d runs/cluster-* | wc -l)" 1 "all of that was one run"
begin away "$(epochs)"
stopped=$(echo $pids | cut -d' ' -f4)
kill -STOP $stopped
for p in $(echo $pids | cut -d' ' -f1-3); do wait $p; done
tap_is $? 75 "a rank that is stopped is as one that is lost"
tap_ok "and is named" grep -q 'rank 3 has not run for' 0.err
kill -CONT $stopped
wait $stopped
tap_is $? 75 "once it runs again it ends, too"
tap_done
