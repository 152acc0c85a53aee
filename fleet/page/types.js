// Types of the JSON that the page draws (tpuslice.dev/fleet.v1), for the type checker alone.

/**
 * @typedef {object} Cluster
 * @property {string} name
 * @property {string} kubernetes Version; "" if it is not known.
 * @property {string} operator Version; "" if no operator was found.
 * @property {number} replicas
 * @property {number} ready
 */

/**
 * @typedef {object} User A workload that uses or has reserved a pool. All is "" without the right to see it.
 * @property {string} namespace
 * @property {string} kind
 * @property {string} name
 * @property {string} slice
 * @property {boolean} reserved
 */

/**
 * @typedef {object} Pool
 * @property {string} name
 * @property {string} topologyKey
 * @property {string} accelerator
 * @property {string} tpu
 * @property {string} topology
 * @property {number} chips
 * @property {string} hosts A character for each host: u, f, r, b, c or l; m for one that is missing.
 * @property {string[]} nodes Names by host; empty if they were left out.
 * @property {string} state InUse, Free, Reserved, Broken, Draining or Partial.
 * @property {string} since
 * @property {string} problem
 * @property {string} until
 * @property {User[]} users
 * @property {string} zone
 * @property {string} capacity
 * @property {number} failures
 */

/**
 * @typedef {object} Slice
 * @property {string} namespace
 * @property {string} kind
 * @property {string} name
 * @property {string} slice
 * @property {string} accelerator
 * @property {string} tpu
 * @property {string} topology
 * @property {number} hosts
 * @property {number} ready
 * @property {string} state Waiting, Placed, Running, Restarting, Ending or Done.
 * @property {string} since
 * @property {string} pool
 * @property {string} code
 * @property {string} reason
 * @property {number} position From 1; 0 if it is in no queue.
 * @property {string[]} behind
 * @property {boolean} never
 * @property {string} problem Why it does not run although it has nodes.
 * @property {string} gang
 * @property {number} priority
 */

/**
 * @typedef {object} Attention
 * @property {string} about
 * @property {string} text
 * @property {string} command
 */

/**
 * @typedef {object} Missing What could not be read, as its reader lacks the right.
 * @property {string} resource
 * @property {string} namespace "" for all.
 */

/**
 * @typedef {object} Fleet
 * @property {string} time
 * @property {Cluster} cluster
 * @property {Pool[]} pools
 * @property {Slice[]} slices
 * @property {Attention[]} attention
 * @property {Missing[]} missing
 */

/**
 * @typedef {object} HistoryRecord
 * @property {string} time
 * @property {string} namespace
 * @property {string} kind
 * @property {string} name
 * @property {string} slice
 * @property {string} what
 * @property {string} code
 * @property {string} why
 * @property {string} host
 * @property {string} container
 * @property {string} exitCode
 * @property {string} node
 * @property {string} pool
 * @property {number} lostHostSeconds
 * @property {number} backAfterSeconds -1 if the slice is not back, or it is not known.
 * @property {string} backOn
 */

/**
 * @typedef {object} Diff What changed since the fleet that the page has.
 * @property {string} [time]
 * @property {any} [cluster]
 * @property {any[]} [attention]
 * @property {any[]} [missing]
 * @property {{set?: Record<string, any>, removed?: string[]}} [pools] By key.
 * @property {{set?: Record<string, any>, removed?: string[]}} [slices] By key.
 */

/**
 * @typedef {object} Filter
 * @property {string} text
 * @property {string} namespace "" for all.
 * @property {string} tpu "v6e 4x4", or "" for all.
 * @property {string} state "" for all.
 */

/**
 * @typedef {{type: "group", key: string, title: string, counts: string, chips: string}} GroupRow
 * @typedef {{type: "pool", key: string, pool: Pool}} PoolRow
 * @typedef {GroupRow | PoolRow} MapRow
 * @typedef {{key: string, slice: Slice}} QueueRow
 * @typedef {{key: string, record: HistoryRecord}} HistoryRow
 * @typedef {{from: number, to: number, state: string}} Segment Fractions of the time shown.
 * @typedef {{at: number, text: string}} Mark
 * @typedef {{key: string, title: string, segments: Segment[], marks: Mark[], summary: string}} Lane
 */

/**
 * @typedef {object} Config What the server of the page can do.
 * @property {boolean} live
 * @property {boolean} history
 * @property {boolean} whatIf
 * @property {boolean} object It reads objects of workloads.
 * @property {string} command How its user calls the plugin: "kubectl tpu".
 */

/**
 * @typedef {object} About The workload of a selection.
 * @property {string} kind
 * @property {string} namespace
 * @property {string} name
 */

/**
 * @typedef {object} WorkloadObject
 * @property {{type: string, status: string, reason: string, message: string, since: string}[]} conditions
 * @property {{time: string, type: string, reason: string, message: string, count: number}[]} events The latest first.
 * @property {string} eventsProblem Why the events cannot be read.
 * @property {string} yaml
 */

export {};
