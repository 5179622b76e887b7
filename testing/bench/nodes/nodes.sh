#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Simulates several computers on one under Open MPI: network namespaces on a bridge, each with its
# own host name, TCP between them and shared memory inside.
#
# Usage: nodes.sh [--nodes N] [--per-node N] [--rate RATE] COMMAND [ARGUMENT ...]
#   --nodes      computers to simulate (4)
#   --per-node   ranks on each (4)
#   --rate       send and receive limit of each, in tc's syntax, e.g. 1gbit (no limit)
#
# Runs COMMAND under mpirun with a rank in every slot and returns its exit code. Must be root:
# creates namespaces and links, whose names begin with bn and the number of this process, and
# removes them however it ends.
set -euo pipefail

nodes=4 per_node=4 rate=
while [ $# -gt 0 ]; do
  case $1 in
    --nodes) nodes=$2; shift 2 ;;
    --per-node) per_node=$2; shift 2 ;;
    --rate) rate=$2; shift 2 ;;
    *) break ;;
  esac
done
[ $# -gt 0 ] || { sed -n '2,13s/^# \{0,1\}//p' "$0" >&2; exit 2; }
[ "$(id -u)" = 0 ] || { echo "nodes.sh: must be root, to make network namespaces" >&2; exit 77; }
for tool in ip unshare mpirun ${rate:+tc}; do
  command -v "$tool" >/dev/null || { echo "nodes.sh: there is no $tool here" >&2; exit 77; }
done

here=$(cd "$(dirname "$0")" && pwd)
id=bn$$ # link names have at most 15 characters
folder=$(mktemp -d)
clean_up()
{
  local node
  for ((node = 0; node <= nodes; ++node)); do
    ip netns pids "$id-$node" 2>/dev/null | xargs -r kill -9 2>/dev/null || true
    ip netns delete "$id-$node" 2>/dev/null || true
    ip link delete "$id-$node" 2>/dev/null || true
  done
  rm -rf "$folder"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

# The bridge and mpirun have their own namespace, so this computer's network is not affected and
# concurrent scripts do not interfere.
ip netns add "$id-$nodes" 2>/dev/null ||
  { echo "nodes.sh: network namespaces are not allowed here" >&2; exit 77; }
in_hub() { ip netns exec "$id-$nodes" "$@"; }
in_hub ip link set lo up
in_hub ip link add bridge type bridge
in_hub ip address add 10.77.0.254/24 dev bridge
in_hub ip link set bridge up
for ((node = 0; node != nodes; ++node)); do
  ip netns add "$id-$node"
  in_hub ip link add "port$node" type veth peer name eth0 netns "$id-$node"
  in_hub ip link set "port$node" master bridge up
  ip netns exec "$id-$node" ip address add "10.77.0.$((node + 1))/24" dev eth0
  ip netns exec "$id-$node" ip link set lo up
  ip netns exec "$id-$node" ip link set eth0 up
  if [ -n "$rate" ]; then
    in_hub tc qdisc add dev "port$node" root tbf rate "$rate" burst 256kb latency 200ms
    ip netns exec "$id-$node" tc qdisc add dev eth0 root tbf rate "$rate" burst 256kb latency 200ms
  fi
  echo "10.77.0.$((node + 1)) slots=$per_node" >>"$folder/hosts"
done

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export BAT_NODES_ID=$id
in_hub unshare --uts --fork bash -c 'hostname hub; exec "$@"' hub \
  mpirun --hostfile "$folder/hosts" -np $((nodes * per_node)) --bind-to none \
  --mca plm_rsh_agent "$here/node_agent.sh" --mca plm_rsh_no_tree_spawn 1 \
  --mca oob_tcp_if_include 10.77.0.0/24 --mca btl_tcp_if_include 10.77.0.0/24 \
  --mca btl self,vader,tcp --mca btl_vader_single_copy_mechanism none \
  --mca pml ob1 --mca osc ^ucx --mca mpi_yield_when_idle 1 "$@"
