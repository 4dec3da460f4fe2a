#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Workers of this machine: the same bits as one process for any number of them, also when some are
# killed, stopped or late; no process is left, however it ends.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/net/held_training.sh"

examples=$top_srcdir/examples
# train NAME CONFIG [options]: writes NAME.bin.
train() {
	out=$1 config=$2
	shift 2
	rm -f "$out.bin"
	"$QCNN" train "$config" --set cluster.start_seconds=100 --set log.dir="$PWD/runs" --set log.report=false --set log.tensorboard=false \
		--set run.threads=1 --fresh --no-progress -o "$out.bin" "$@" >out 2>err || { sed "s/^/# $out: /" err | tail -5; return 1; }
}

# Workers that a process has started and that run (not those that wait to be reaped, nor the gate of a held training).
workers_of() { ps -o pid=,stat=,args= --ppid "$1" 2>/dev/null | awk '$2 !~ /^Z/ && !/\.\/gate$/ { print $1 }'; }

# ---- the same bits ----
few="--set train.epochs=2 --set train.restarts=1"
for name in cluster cluster-hybrid; do
	train want "$examples/$name/config.yaml" $few || tap_note "$(cat err)"
	for hosts in local local:2 local:3 local:4 local:8; do
		tap_ok "$name trains with $hosts" train got "$examples/$name/config.yaml" $few --hosts $hosts
		tap_ok "and the weights are the same" cmp want.bin got.bin
	done
done
for encrypt in --encrypt --encrypt=on --encrypt=off "--set cluster.encrypt=off" "--set cluster.encrypt=true" "--set cluster.encrypt=false"; do
	train got "$examples/cluster-hybrid/config.yaml" $few --hosts local:2 $encrypt
	tap_ok "with $encrypt they are the same" cmp want.bin got.bin
done
tap_exit 2 "a word that --encrypt does not take" "$QCNN" train "$examples/cluster/config.yaml" --hosts local --encrypt=no
tap_has err "--encrypt takes on|off, not \`no\`" "the words are listed"
train got "$examples/cluster-hybrid/config.yaml" $few --set 'cluster.hosts=[local:2]' --set cluster.encrypt=on
tap_ok "hosts of the configuration give the same" cmp want.bin got.bin
printf '# ours\nlocal slots=2 # two\n' >hosts
train got "$examples/cluster-hybrid/config.yaml" $few --hostfile hosts
tap_ok "hosts of a file give the same" cmp want.bin got.bin
tap_has err "2 workers on 1 host" "as many as it says"

train want "$examples/cluster/config.yaml" --set train.epochs=2 --set train.restarts=3 --set run.threads=2
train got "$examples/cluster/config.yaml" --set train.epochs=2 --set train.restarts=3 --set run.threads=2 --hosts local:2
tap_ok "several starts" cmp want.bin got.bin

# An optimiser that asks for losses, class weights, and states that a worker's threads share.
spsa="$few --set train.optimizer=spsa --set train.class_weight.1=2"
train want "$examples/cluster/config.yaml" $spsa
train got "$examples/cluster/config.yaml" $spsa --hosts local:2
tap_ok "losses alone, with weights of classes" cmp want.bin got.bin
shared="--set model.const.n=18 --set data.rounds=1 --set train.batch_size=2 --set train.epochs=1 --set train.max_steps=1 --set train.restarts=1"
train want "$examples/cluster-hybrid/config.yaml" $shared
train got "$examples/cluster-hybrid/config.yaml" $shared --hosts local:2
tap_ok "18 qubits" cmp want.bin got.bin

shots="$few --set run.shots=50 --set run.gradient=shift --set data.rounds=4"
train want "$examples/cluster/config.yaml" $shots
train got "$examples/cluster/config.yaml" $shots --hosts local:3
tap_ok "shots" cmp want.bin got.bin

# ---- what would be done ----
"$QCNN" train "$examples/cluster/config.yaml" --dry-run --hosts local:2 >out 2>err
tap_is $? 0 "a dry run with workers"
tap_is "$(grep -c '^worker    local\[[01]\]: [0-9]* thread' out)" 2 "names them"
"$QCNN" train "$examples/cluster/config.yaml" --dry-run --json --hosts local:2 >out 2>err
tap_has out '"workers": [{"name": "local[0]"' "in JSON too"
tap_ok "and the command that starts them" grep -q '"command": \["[^"]*qcnn", "worker"' out

# ---- what each did ----
"$QCNN" train "$examples/cluster/config.yaml" --fresh $few --set log.dir="$PWD/runs" --set log.report=false --no-progress -v -o got.bin --hosts local:2 >out 2>err
tap_ok "metrics.jsonl names workers and their paces" grep -q '"workers": \[{"name": "local\[0\]", "share": [01][.0-9]*, "samples_per_second": [0-9.e+]*, "replaced": 0, "lost": false}, {"name": "local\[1\]"' runs/latest/metrics.jsonl
tap_is "$(sed 's/.*"workers"//; s/}/}\n/g' runs/latest/metrics.jsonl | sed -n 's/.*"share": \([^,]*\).*/\1/p' | awk '{ s += $1 } END { printf "%.6f", s }')" 2.000000 \
	"their shares are all of each epoch"
tap_is "$(grep -c 'qcnn train: local\[[01]\] *[0-9.]* % *[0-9]* samples/s  heard' err)" 4 "--verbose tells after each epoch"
tap_ok "event files have them" grep -q -a 'worker_samples_per_second/local\[1\]' "$(tap_run runs)"/train/events*

# ---- inputs that workers keep ----
digits=$examples/digits/config.yaml
got_mb() { sed -n 's/.*, and got \([0-9.e+-]*\) MB.*/\1/p' err | awk '{ n += $1 } END { print n }'; }
for shard in off data auto; do
	train got "$digits" --set train.epochs=8 --set train.restarts=1 --hosts local:2 --set cluster.shard=$shard -v
	eval "mb_$shard=$(got_mb)"
	mv got.bin got.$shard.bin
done
train want "$digits" --set train.epochs=8 --set train.restarts=1
for shard in off data auto; do
	tap_ok "cluster.shard: $shard, the same weights" cmp want.bin got.$shard.bin
done
tap_ok "kept inputs are sent once ($mb_off MB, $mb_data MB, $mb_auto MB)" \
	awk "BEGIN { exit !($mb_data > 0 && $mb_data < $mb_off / 2 && $mb_auto > 0 && $mb_auto < $mb_off / 2) }"

# ---- infer ----
train few "$examples/cluster/config.yaml" $few
"$QCNN" infer --json --split=train few.bin >want.json 2>err
tap_is $? 0 "infer"
"$QCNN" infer --json --split=train --hosts local:3 few.bin >got.json 2>err
tap_is $? 0 "infer by three workers"
tap_same got.json want.json "prints the same"
train big "$examples/cluster-hybrid/config.yaml" --set model.const.n=16 --set data.rounds=20 --set data.split=0.95 --set train.batch_size=2 \
	--set train.max_steps=1 --set train.restarts=1
"$QCNN" infer --json --split=train big.bin >want.json
"$QCNN" infer --json --split=train --hosts local:2 big.bin >got.json 2>err &
inferring=$!
tap_until "grep -q 'ready after' err"
kill -9 $(workers_of $inferring | head -1) 2>/dev/null
wait $inferring
tap_is $? 0 "infer goes on when a worker is killed"
tap_same got.json want.json "and prints the same" || tap_note "$(cat err)"

# ---- losing workers ----
hold_options $([ -n "${QCNN_SANITIZED:-}" ] && echo 2000 || echo 8000)
release_training
train want "$examples/cluster/config.yaml" $hold_options

# start_run [options]: a run with three workers, which have done an epoch, and which does not end by itself before release_training;
# leaves $coordinator and $all, its workers.
start_run() {
	hold_training
	rm -rf runs
	"$QCNN" train "$examples/cluster/config.yaml" --set log.dir="$PWD/runs" --set log.report=false --set log.tensorboard=false \
		--set run.threads=1 --no-progress -o got.bin $hold_options --hosts local:3 "$@" >out 2>err &
	coordinator=$!
	tap_until '[ -s runs/*/metrics.jsonl ]'
	all=$(workers_of $coordinator)
}
rm -f got.bin
start_run --fresh --replacements 0
tap_is "$(echo $all | wc -w)" 3 "three workers run"
kill -9 $(echo $all | cut -d' ' -f2)
tap_until "grep -q 'is lost' err"
release_training
wait $coordinator
tap_is $? 0 "a worker that is killed does not end the run"
tap_has err "is lost: its process ended with signal 9 (Killed) (if no user has killed it, its host had no memory left" "who is lost, and why, is said"
tap_ok "and the weights are the same" cmp want.bin got.bin
tap_is "$(grep -o '"lost": [a-z]*' runs/latest/run.json | tr '\n' ' ')" '"lost": false "lost": true "lost": false ' "run.json tells who was lost"
tap_is "$(grep -o '"units": [1-9]' runs/latest/run.json | wc -l)" 3 "and that all have worked"

rm -f got.bin
start_run --fresh --set cluster.shard=data
kill -9 $all
tap_until '[ "$(grep -c "has been restarted" err)" = 3 ]'
release_training
wait $coordinator
tap_is $? 0 "when all are killed, they are started again"
for k in 0 1 2; do
	tap_has err "local[$k] is lost: its process ended with signal 9 (Killed)" "local[$k] was lost"
	tap_has err "local[$k] has been restarted" "and has come again"
done
tap_ok "and the weights are the same" cmp want.bin got.bin
tap_is "$(grep -o '"lost": [a-z]*, "replaced": [0-9]*' runs/latest/run.json | tr '\n' ' ')" \
	'"lost": false, "replaced": 1 "lost": false, "replaced": 1 "lost": false, "replaced": 1 ' "run.json counts them"

# The file of the program is replaced in the run: workers that are started again are still the program that runs.
rm -f got.bin
cp "$QCNN" program
mkdir other
printf '#!/bin/sh\nexit 3\n' >other/qcnn
chmod +x other/qcnn
before=$QCNN path=$PATH
QCNN=$PWD/program PATH=$PWD/other:$PATH
start_run --fresh
mv other/qcnn program
kill -9 $all
tap_until '[ "$(grep -c "has been restarted" err)" = 3 ] || grep -q "all workers are lost" err'
tap_is "$(ps -o comm= -p $(workers_of $coordinator | head -1))" qcnn "the name of a worker is that of the program"
release_training
wait $coordinator
tap_is $? 0 "when the program's file is replaced, workers are started again from the program that runs"
tap_ok "and the weights are the same" cmp want.bin got.bin

# By an agent it is the program of that name, and none of PATH.
rm -f got.bin
printf '#!/bin/sh\nshift\nexec sh -c "$*"\n' >by_name
printf '#!/bin/sh\nexit 3\n' >other/qcnn
chmod +x by_name other/qcnn
cp "$before" program.new
cp "$before" program
start_run --fresh --hosts 127.0.0.1:2 --launcher "exec:$PWD/by_name"
mv program.new program
kill -9 $all
tap_until '[ "$(grep -c "has been restarted" err)" = 2 ] || grep -q "all workers are lost" err'
release_training
wait $coordinator
tap_is $? 0 "by an agent they are started again by the program's name" || tap_note "$(grep lost err | tail -2)"
tap_ok "and the weights are the same" cmp want.bin got.bin
QCNN=$before PATH=$path

rm -f got.bin
start_run --fresh --set cluster.replacements=0
kill -9 $all
release_training
wait $coordinator
tap_is $? 69 "without workers it ends with 69"
tap_has err "all workers are lost; the first one was local[" "and names the first cause"
tap_ok "no worker is left" tap_gone $all

# Agents that start a worker once; later they fail, or nothing comes of it.
start_once() {
	printf '#!/bin/sh\n[ -e %s.used ] && exec %s\n>%s.used\nshift\nexec sh -c "$*"\n' "$1" "$2" "$1" >agent.$1
	chmod +x agent.$1
	"$QCNN" train "$examples/cluster/config.yaml" --set log.dir="$PWD/runs.$1" --set log.report=false --set log.tensorboard=false \
		--set run.threads=1 --no-progress $hold_options --hosts 127.0.0.1 --launcher exec:./agent.$1 --replacements 2 >/dev/null 2>err.$1 &
}
hold_training
start_once fails false
fails=$!
start_once hangs 'sleep 1000'
hangs=$!
tap_until '[ -s runs.fails/*/metrics.jsonl ] && [ -s runs.hangs/*/metrics.jsonl ]'
kill -9 $(workers_of $fails) $(workers_of $hangs)
release_training
wait $fails
tap_is $? 69 "a worker that cannot be started again: 69"
tap_has err.fails "its launcher ended with exit status 1; it is started again in 1 s" "it was tried, and later once more"
tap_is "$(grep -c 'started again in' err.fails)" 2 "as often as --replacements says"
wait $hangs
tap_is $? 69 "one that is started and does not come: 69"
tap_has err.hangs "all workers are lost; the first one was 127.0.0.1[0]: its launcher ended with signal 9" "after five seconds without any"

start_run --fresh
kill -9 $coordinator
wait $coordinator 2>/dev/null
tap_ok "when the coordinator is killed no worker is left" tap_gone $all

start_run --fresh
kill -STOP $(echo $all | cut -d' ' -f2)
kill -9 $coordinator
wait $coordinator 2>/dev/null
tap_ok "nor one that was stopped" tap_gone $all

start_run --fresh --set train.max_steps=1000000000 --set train.callbacks.checkpoint.save_freq=1000000000
kill -STOP $all
kill -INT $coordinator
tap_took_int $coordinator
kill -INT $coordinator
wait $coordinator 2>/dev/null
tap_is $? 130 "a second INT ends a step that does not"
tap_ok "and no worker is left" tap_gone $all

rm -f got.bin
start_run --fresh
kill -INT $coordinator
release_training
wait $coordinator
tap_is $? 75 "a signal ends training with 75"
tap_ok "and no worker is left" tap_gone $all
"$QCNN" train "$examples/cluster/config.yaml" --set log.dir="$PWD/runs" --set log.report=false \
	--set log.tensorboard=false --set run.threads=1 --no-progress -o got.bin $hold_options --hosts local:2 >out 2>err
tap_ok "the same command, with other workers, ends with the same weights" cmp want.bin got.bin

# ---- what cannot be ----
cp "$examples"/cluster/* .
tap_exit 2 "a host that is none" "$QCNN" train config.yaml --hosts 'a,-oProxyCommand=x'
tap_has err '`-oProxyCommand=x` is not a host' "it is named"
tap_exit 2 "no number behind the colon" "$QCNN" train config.yaml --hosts local:x
tap_has err 'a number of workers must follow the colon' "it is said"
tap_exit 78 "a key with such a host" "$QCNN" train config.yaml --set 'cluster.hosts=[a, "b;c"]'
tap_has err '`b;c` is not a host' "it is named"
tap_exit 66 "a hostfile that is missing" "$QCNN" train config.yaml --hostfile nowhere
printf 'local\nlocal max-slots=3\n' >hosts
tap_exit 78 "a hostfile with other words" "$QCNN" train config.yaml --hostfile hosts
tap_has err 'hosts, line 2: `max-slots=3` is not understood' "the line is named"
tap_exit 2 "an unknown launcher" "$QCNN" train config.yaml --hosts a --launcher rsh
tap_exit 69 "an agent that does not exist" "$QCNN" train config.yaml --hosts 127.0.0.1 --launcher exec:./no-agent
tap_has err "cannot start ./no-agent" "it is named"
tap_exit 69 "an agent that fails" "$QCNN" train config.yaml --hosts 127.0.0.1 --launcher 'exec:false'
tap_has err "127.0.0.1[0]: its launcher ended with exit status 1" "host, rank and status are named"
tap_exit 76 "a worker by hand" "$QCNN" worker
tap_has err "that command starts workers, not the user" "it is said"

# An agent of one's own, as ssh takes host and command.
printf '#!/bin/sh\necho "welcome to $1"\nshift\neval "$*"\n' >agent
chmod +x agent
train want config.yaml $few
train got config.yaml $few --hosts 127.0.0.1:2 --launcher 'exec:./agent'
tap_ok "workers by an agent" cmp want.bin got.bin
tap_has err "127.0.0.1[1]: welcome to 127.0.0.1" "what it says is shown with host and rank"


# A batch job of Slurm, whose srun is a script: it drops the options, and starts the rest here.
mkdir fake
printf '#!/bin/sh\nwhile case $1 in --*) true ;; *) false ;; esac; do shift; done\nexec "$@"\n' >fake/srun
chmod +x fake/srun
tap_ok "two hosts of a Slurm job" env PATH="$PWD/fake:$PATH" SLURM_JOB_NODELIST='127.0.0.[1-2]' \
	"$QCNN" train config.yaml $few --set run.threads=1 --fresh --no-progress -o got.bin
tap_has tap.out "computing on the 2 hosts of this Slurm job" "it says so"
tap_ok "and the weights are the same" cmp want.bin got.bin
tap_exit 78 "a list of hosts that is none" env SLURM_JOB_NODELIST='n[1-' "$QCNN" train config.yaml
tap_has err 'SLURM_JOB_NODELIST: `n[1-` is not a list of hosts' "it is named"
tap_done
