#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Replaces ssh for mpirun: starts a command in the namespace of nodes.sh that has the address, with
# its own host name, by which Open MPI distinguishes computers.
#
# Usage: node_agent.sh [OPTION ...] ADDRESS COMMAND ...
while [[ ${1-} == -* ]]; do
  shift
done
node=$((${1##*.} - 1))
shift
exec ip netns exec "$BAT_NODES_ID-$node" unshare --uts bash -c 'hostname "$0"; eval "$1"' "node$node" "$*"
