/* SPDX-License-Identifier: BSD-3-Clause */
/* Statuses that libcatalyst-bat.so returns from the calls of Catalyst beside 0, which is success.
 * The same on all ranks. The text is on the standard error of rank 0, and catalyst/bat/message of
 * catalyst_results. After any of them the simulation may go on: the next step is tried anew. */
#ifndef BAT_CATALYST_BAT_H
#define BAT_CATALYST_BAT_H

#ifdef __cplusplus
extern "C"
{
#endif

  enum catalyst_bat_status
  {
    /** A node that particles need is missing, has another type or length, or holds an address on a
     * GPU. Other channels are written; a field alone is left out with a warning, and status 0. */
    CATALYST_BAT_BAD_NODE = 100,
    /** An option of catalyst/bat or of the file that CATALYST_BAT_CONFIG names. */
    CATALYST_BAT_BAD_OPTIONS = 101,
    /** A file cannot be written. Steps that were written before are whole. */
    CATALYST_BAT_WRITE_FAILED = 102,
    /** The disk or the quota is full. Steps that were written before are whole. */
    CATALYST_BAT_NO_SPACE = 103,
    /** An allocation failed. */
    CATALYST_BAT_OUT_OF_MEMORY = 104,
    /** The process has no Conduit functions, or has those of another ABI. */
    CATALYST_BAT_NO_CONDUIT = 105,
    /** MPI is finalized, or catalyst/mpi_comm is not a communicator. */
    CATALYST_BAT_NO_MPI = 106,
    /** catalyst_execute without a catalyst_initialize that succeeded. */
    CATALYST_BAT_NOT_INITIALIZED = 107,
    /** Anything else. */
    CATALYST_BAT_INTERNAL = 108
  };

#ifdef __cplusplus
}
#endif

#endif
