/** Maximum number of processes that serve. More do not serve more on any machine. */
export const MAX_WORKERS = 256;
