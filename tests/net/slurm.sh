# SPDX-License-Identifier: Apache-2.0
# Slurm for a test: munged, slurmctld and three slurmd on this machine, with ports, keys and folders of their own.
# start_slurm: leaves SLURM_CONF in the environment, or returns 1 with the reason in $slurm_why; end_slurm ends all.

. "$top_srcdir/tests/net/ports.sh"
slurm_here=$PWD/slurm
slurm_wait() { tap_until "$* >/dev/null"; }
slurm_alive() { [ "$(sinfo -h -p low -N -o '%t' 2>/dev/null | grep -c idle)" = 3 ]; }

start_slurm() {
	PATH=$PATH:/usr/sbin:/sbin
	for program in munged slurmctld slurmd srun sbatch; do
		command -v $program >/dev/null || { slurm_why="$program is not installed"; return 1; }
	done
	[ "$(id -u)" = 0 ] || { slurm_why="slurmd needs root"; return 1; }
	mkdir -p "$slurm_here/state" && chmod 755 "$slurm_here"
	take_ports || { slurm_why="no ports are free"; return 1; }
	base=$port
	head -c 128 /dev/urandom >"$slurm_here/munge.key" && chmod 400 "$slurm_here/munge.key"
	munged --force --key-file="$slurm_here/munge.key" --socket="/tmp/qcnn-munge.$$" --pid-file="$slurm_here/munged.pid" \
		--log-file="$slurm_here/munged.log" --seed-file="$slurm_here/munged.seed" 2>"$slurm_here/munged.err" ||
		{ slurm_why="munged does not start: $(tail -1 "$slurm_here/munged.err")"; return 1; }
	cat >"$slurm_here/slurm.conf" <<-END
	ClusterName=lab$$
	SlurmctldHost=$(hostname -s)(127.0.0.1)
	SlurmctldPort=$base
	AuthType=auth/munge
	AuthInfo=socket=/tmp/qcnn-munge.$$,cred_expire=1
	SlurmUser=root
	SlurmdUser=root
	StateSaveLocation=$slurm_here/state
	SlurmdSpoolDir=$slurm_here/spool.%n
	SlurmctldPidFile=$slurm_here/slurmctld.pid
	SlurmdPidFile=$slurm_here/slurmd.%n.pid
	SlurmctldLogFile=$slurm_here/slurmctld.log
	SlurmdLogFile=$slurm_here/slurmd.%n.log
	ProctrackType=proctrack/linuxproc
	TaskPlugin=task/none
	SelectType=select/cons_tres
	SelectTypeParameters=CR_Core
	SchedulerType=sched/builtin
	SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0
	MpiDefault=none
	SwitchType=switch/none
	JobAcctGatherType=jobacct_gather/none
	KillWait=5
	PreemptType=preempt/partition_prio
	PreemptMode=REQUEUE
	SlurmctldParameters=preempt_send_user_signal
	NodeName=n1 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$((base + 1)) CPUs=2
	NodeName=n2 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$((base + 2)) CPUs=2
	NodeName=n3 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$((base + 3)) CPUs=2
	PartitionName=low Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1 GraceTime=60
	PartitionName=high Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=9 PreemptMode=OFF
	END
	printf 'CgroupAutomount=no\n' >"$slurm_here/cgroup.conf"
	SLURM_CONF=$slurm_here/slurm.conf
	export SLURM_CONF
	slurmctld -i -f "$SLURM_CONF" 2>"$slurm_here/err" || { slurm_why="slurmctld does not start: $(tail -1 "$slurm_here/err")"; return 1; }
	for n in n1 n2 n3; do
		slurmd -N $n -f "$SLURM_CONF" 2>"$slurm_here/err" || { slurm_why="slurmd does not start: $(tail -1 "$slurm_here/err")"; return 1; }
	done
	slurm_wait slurm_alive || { slurm_why="slurmd does not start: its nodes do not become idle"; return 1; }
}
end_slurm() {
	scancel -u "$(id -un)" 2>/dev/null
	for f in slurmd.n1 slurmd.n2 slurmd.n3 slurmctld munged; do
		[ ! -s "$slurm_here/$f.pid" ] || kill "$(cat "$slurm_here/$f.pid")" 2>/dev/null
	done
	for f in slurmd.n1 slurmd.n2 slurmd.n3 slurmctld munged; do
		pid=$(cat "$slurm_here/$f.pid" 2>/dev/null) || continue
		for i in $(seq 50); do kill -0 $pid 2>/dev/null || break; sleep 0.1; done
		kill -9 $pid 2>/dev/null
	done
	rm -f /tmp/qcnn-munge.$$*
}
