#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One training on several hosts of LSF:  bsub < lsf.sh
# The hosts are in LSB_MCPU_HOSTS; workers are started there by blaunch.
#BSUB -J qcnn
#BSUB -n 16
#BSUB -R "span[ptile=8]"
#BSUB -W 4:00
# USR1 two minutes before the time is over; a job that ends with 75 is put back into the queue.
#BSUB -wt 2
#BSUB -wa USR1
#BSUB -r
#BSUB -Q "75"

exec "${QCNN:-qcnn}" train "${CONFIG:-config.yaml}"
