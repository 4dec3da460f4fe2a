#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Real Slurm, started and ended by this test: by srun, in an allocation, by the scripts of examples/batch, and through
# three preemptions; always the bits of one process.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/net/slurm.sh"

trap end_slurm EXIT
trap 'exit 1' HUP INT TERM
start_slurm || tap_skip_all "$slurm_why"
cp "$top_srcdir"/examples/cluster-hybrid/* "$top_srcdir"/examples/batch/*.sh .
few="--set log.report=false --set log.tensorboard=false --no-progress --set train.restarts=1 --set run.threads=1"
export QCNN

timeout 100 "$QCNN" train config.yaml $few --set train.epochs=2 --fresh -o want.bin >out 2>err || tap_note "$(cat err)"
tap_ok "three tasks by srun" timeout 60 srun -N3 -n3 "$QCNN" train config.yaml $few --set train.epochs=2 --fresh -o got.bin
tap_has tap.out "3 processes that srun has started form one job (SLURM_PROCID is 0, SLURM_STEP_NUM_TASKS is 3)" "rank 0 says so"
tap_is "$(grep -c 'the weights are in' tap.out)" 1 "and it alone"
tap_ok "the weights are the same" cmp want.bin got.bin
# The names of an allocation as Slurm itself writes them out; each is asked of an agent, which refuses when all have been asked.
printf '#!/bin/sh\necho "$1" >>asked\nuntil [ "$(wc -l <asked)" -ge "$(wc -l <named)" ]; do sleep 0.02; done\nexit 1\n' >agent
chmod +x agent
for list in 'n[1-3,7]' 'm[08-11],x' 'rack[1-2]n[09-10]' 'a,b-1,c[3]'; do
	scontrol show hostnames "$list" | sort >named
	rm -f asked
	SLURM_JOB_NODELIST="$list" "$QCNN" train config.yaml $few --iface 127.0.0.1 --launcher "exec:$PWD/agent" >out 2>err
	tap_until '[ "$(cat asked | wc -l)" -ge "$(wc -l <named)" ]'
	sort asked >asked.sorted
	tap_ok "$list is what scontrol makes of it" cmp named asked.sorted
done
tap_ok "an allocation of two nodes: workers by srun" timeout 60 salloc -Q -N2 "$QCNN" train config.yaml $few --set train.epochs=2 \
	--fresh -o got.bin --iface 127.0.0.1
tap_has tap.out "computing on the 2 hosts of this Slurm job" "it says so"
tap_ok "the weights are the same" cmp want.bin got.bin
rm -f got.bin
tap_ok "by srun's standard input and output, with a program that is sent" timeout 60 salloc -Q -N2 "$QCNN" train config.yaml $few \
	--set train.epochs=2 --fresh -o got.bin --transport=stdio --push --remote-path /nowhere/qcnn
tap_ok "the weights are the same" cmp want.bin got.bin
tap_ok "one task alone is one process" timeout 60 srun -N1 -n1 "$QCNN" train config.yaml $few --set train.epochs=2 --fresh -o got.bin -q
tap_ok "the weights are the same" cmp want.bin got.bin

state() { squeue -h -j $1 -o %T 2>/dev/null; }
has_state() { [ "$(state $1)" = "$2" ]; }
ended() { case $(state $1) in '' | COMPLETED | FAILED | CANCELLED) true ;; *) false ;; esac; }

# ---- an array over seeds ----
sed -i 's/--array=1-8/--array=1-2/' slurm-seeds.sh
job=$(sbatch --parsable --cpus-per-task=2 slurm-seeds.sh config.yaml $few --set train.epochs=2)
slurm_wait ended $job
for seed in 1 2; do
	timeout 100 "$QCNN" train config.yaml $few --set train.epochs=2 --set run.seed=$seed --fresh -o want.$seed.bin >out 2>err
	tap_ok "seed $seed of an array job" cmp want.$seed.bin runs/seed-$seed/latest/weights.bin
done

# ---- three preemptions ----
# An epoch takes as long as the program of its callback.
printf '#!/bin/sh\nsleep ${TICK:-0}\n' >tick
chmod +x tick
long="$few --set train.epochs=100 --set train.callbacks.command.run=$PWD/tick --set train.callbacks.command.on=epoch --set log.dir=$PWD/preempted"
"$QCNN" train config.yaml $long --set log.dir="$PWD/calm" -o calm.bin >out 2>err
export TICK=0.1
job=$(sbatch --parsable --cpus-per-task=2 --time=60 -o batch.out slurm.sh config.yaml $long -o got.bin)
rm -f got.bin
for k in 1 2 3; do
	tap_until '[ "$(grep -c "ready after" batch.out)" -ge $k ]'
	sleep 0.7
	tap_ok "preemption $k: a job that is more urgent runs" timeout 60 srun -p high -N3 --exclusive true
	slurm_wait has_state $job PENDING && scontrol update JobId=$job StartTime=now+2    # Slurm lets it wait for two minutes; within a second it would revoke it
done
tap_until 'ended $job'
tap_is "$(grep -c 'same command' batch.out)" 3 "it was stopped and has saved three times" || tap_note "$(tail -30 batch.out)"
tap_ok "and the weights are those of the uninterrupted run" cmp calm.bin got.bin
tap_is "$(ls -d preempted/hybrid-* | wc -l)" 1 "in one folder"
end_slurm
tap_is "$(ps -eo args= | grep -c "[q]cnn train config.yaml .*$PWD")" 0 "no process is left"
tap_done
