#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One training on the GPUs of several nodes of Slurm:  sbatch slurm-gpu.sh config.yaml
# Any number of nodes and GPUs gives the same weights; it goes on by itself after preemptions and time limits.
#SBATCH --job-name=qcnn-gpu
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gres=gpu:1
#SBATCH --cpus-per-task=8
#SBATCH --time=04:00:00
# Two minutes before the time is over, and when it is preempted, qcnn gets USR1 and saves.
#SBATCH --signal=USR1@120
#SBATCH --requeue
#SBATCH --open-mode=append

trap : TERM USR1    # these are for qcnn; this script has to see how it ends
# srun takes this number from the job no longer (Slurm 22.05), and might give one core.
[ -z "$SLURM_CPUS_PER_TASK" ] || export SRUN_CPUS_PER_TASK="$SLURM_CPUS_PER_TASK"
# By name, not auto: a node whose GPU cannot be used is reported, and not replaced by its processor.
srun "${QCNN:-qcnn}" train --device=cuda "$@"
status=$?
# 75: stopped early, or a GPU failed; saved. The same job, started again, resumes from there.
if [ $status -eq 75 ]; then
	scontrol requeue "$SLURM_JOB_ID"
fi
exit $status
