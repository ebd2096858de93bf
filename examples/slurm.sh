#!/bin/sh
# A job for Slurm: one search, whose candidates are compiled and timed on the cores of four nodes.
#   sbatch examples/slurm.sh matmul.py
#SBATCH --job-name=tilewright
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=8
#SBATCH --cpus-per-task=1
#SBATCH --exclusive
#SBATCH --time=00:30:00
# --exclusive: other jobs on a node would disturb the times. --constraint=... keeps the ranks on one kind of
# processor, where the partition has several: times of one say little about another.

# The first task searches, the 31 others are workers. --no-kill and --kill-on-bad-exit=0: a node that
# is lost costs the candidates that it ran. The database lies where the first node can write.
exec srun --mpi=pmix --cpu-bind=cores --no-kill --kill-on-bad-exit=0 \
  tilewright tune "${1:?sbatch examples/slurm.sh FILE}" --threads 1 --batch 64 --seconds 1200 \
  --db "${SLURM_SUBMIT_DIR:-.}/tilewright.db"
