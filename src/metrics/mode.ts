/**
 * The two ways every benchmark metric of this room can be asked: `strict` gives the number the official code gives, its mistakes
 * included, so that results can stand beside published ones; `sound` gives the value the definition means.
 */
export type MetricMode = "strict" | "sound";
