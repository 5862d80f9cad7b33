#!/bin/bash
# Many boards, one node each. Submit it in a shared directory with a file of boards, one a line:
#     sbatch --array=1-"$(wc -l < boards.txt)" slurm-boards.sh boards.txt
# A board that reaches the time limit of its job continues from its checkpoint when the job is submitted again.
#SBATCH --job-name=konane-boards
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=16
#SBATCH --mem=32G
#SBATCH --time=04:00:00
# SIGTERM two minutes before the end: the program then writes a last checkpoint.
#SBATCH --signal=TERM@120
#SBATCH --output=%x-%A-%a.log
set -euo pipefail

board=$(sed -n "${SLURM_ARRAY_TASK_ID}p" "$1")
resume=()
if [[ -e $board.ckpt ]]; then
    resume=(--resume)
fi
# A quarter of the job's memory stays free for the proof and the buffers of files.
memory=$((SLURM_MEM_PER_NODE * 3 / 4))MiB

srun konane solve "$board" --threads "$SLURM_CPUS_PER_TASK" --memory "$memory" --quiet --json \
    --checkpoint "$board.ckpt" "${resume[@]}" --proof "$board.proof" > "$board.json.part"
mv "$board.json.part" "$board.json"
