#!/bin/bash
# One search on all nodes of a job, with Ray. Submit it in a shared directory:
#     sbatch --nodes=8 slurm-search.sh 8x7
# A search that reaches the time limit continues from its checkpoint when the job is submitted again.
#SBATCH --job-name=konane
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=16
#SBATCH --mem=32G
#SBATCH --time=24:00:00
# SIGTERM to the driver two minutes before the end: it writes a last checkpoint.
#SBATCH --signal=B:TERM@120
#SBATCH --output=%x-%j.log
set -euo pipefail

board=$1
head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
port=$((20000 + SLURM_JOB_ID % 20000))
# Only processes with this token can use the Ray cluster of the job.
export RAY_AUTH_MODE=token RAY_AUTH_TOKEN
RAY_AUTH_TOKEN=$(od -An -tx8 -N32 /dev/urandom | tr -d ' \n')

# One Ray process on each node; the first node is the head.
# shellcheck disable=SC2016  # the variables are those of each node
srun --nodes="$SLURM_JOB_NUM_NODES" --ntasks="$SLURM_JOB_NUM_NODES" --overlap bash -c '
    if [[ $(hostname -s) == "$1" ]]; then
        exec ray start --block --head --port "$2" --num-cpus "$SLURM_CPUS_PER_TASK" --include-dashboard false
    fi
    until ray start --block --address "$1:$2" --num-cpus "$SLURM_CPUS_PER_TASK"; do sleep 2; done
' ray "$head" "$port" > "$SLURM_JOB_NAME-$SLURM_JOB_ID-ray.log" 2>&1 &
ray=$!
trap 'kill "$ray" 2> /dev/null || true' EXIT
until ray status --address "$head:$port" > /dev/null 2>&1; do sleep 2; done

resume=()
if [[ -e $board.ckpt ]]; then
    resume=(--resume)
fi
# Two thirds of the memory of each node for the table of its worker.
memory=$((SLURM_MEM_PER_NODE * 2 / 3))MiB
python -m konane.cluster solve "$board" --address "$head:$port" --workers "$SLURM_JOB_NUM_NODES" \
    --threads-per-worker "$SLURM_CPUS_PER_TASK" --memory-per-worker "$memory" \
    --checkpoint "$board.ckpt" "${resume[@]}" --json > "$board.json.part" &
driver=$!
trap 'kill -TERM "$driver"; wait "$driver"' TERM
wait "$driver"
mv "$board.json.part" "$board.json"
