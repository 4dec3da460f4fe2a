#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One training on several nodes of Slurm:  sbatch slurm.sh config.yaml
# It goes on by itself after preemptions and time limits, to the same weights.
#SBATCH --job-name=qcnn
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=8
#SBATCH --time=04:00:00
# Two minutes before the time is over, and when it is preempted, qcnn gets USR1 and saves.
#SBATCH --signal=USR1@120
#SBATCH --requeue
#SBATCH --open-mode=append

trap : TERM USR1    # these are for qcnn; this script has to see how it ends
# srun takes this number from the job no longer (Slurm 22.05), and might give one core.
[ -z "$SLURM_CPUS_PER_TASK" ] || export SRUN_CPUS_PER_TASK="$SLURM_CPUS_PER_TASK"
srun "${QCNN:-qcnn}" train "$@"
status=$?
# 75: stopped early, saved; the same job, started again, resumes from there.
if [ $status -eq 75 ]; then
	scontrol requeue "$SLURM_JOB_ID"
fi
exit $status
