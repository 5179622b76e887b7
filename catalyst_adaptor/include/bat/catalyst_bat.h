/* SPDX-License-Identifier: BSD-3-Clause */
/* Statuses that libcatalyst-bat.so returns from Catalyst calls in addition to 0, which is success.
 * All ranks return the same status. Rank 0 prints the text to standard error, and catalyst_results
 * has it as catalyst/bat/message. The simulation may continue after any of them; the next step is
 * tried again. */
#ifndef BAT_CATALYST_BAT_H
#define BAT_CATALYST_BAT_H

#ifdef __cplusplus
extern "C"
{
#endif

  enum catalyst_bat_status
  {
    /** A node that the particles need is missing, has another type or length, or holds an address
     * on a GPU. Other channels are written; a field alone is left out with a warning, and status
     * 0. */
    CATALYST_BAT_BAD_NODE = 100,
    /** An option in catalyst/bat or in the file named by CATALYST_BAT_CONFIG is invalid. */
    CATALYST_BAT_BAD_OPTIONS = 101,
    /** A file cannot be written. Steps written earlier are complete. */
    CATALYST_BAT_WRITE_FAILED = 102,
    /** The disk or the quota is full. Steps written earlier are complete. */
    CATALYST_BAT_NO_SPACE = 103,
    /** An allocation failed. */
    CATALYST_BAT_OUT_OF_MEMORY = 104,
    /** The process has no Conduit functions, or they have a different ABI. */
    CATALYST_BAT_NO_CONDUIT = 105,
    /** MPI is finalized, or catalyst/mpi_comm is not a communicator. */
    CATALYST_BAT_NO_MPI = 106,
    /** catalyst_execute was called without a successful catalyst_initialize. */
    CATALYST_BAT_NOT_INITIALIZED = 107,
    /** Any other failure. */
    CATALYST_BAT_INTERNAL = 108
  };

#ifdef __cplusplus
}
#endif

#endif
