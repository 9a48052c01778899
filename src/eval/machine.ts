/** What was measured on, for whoever compares numbers: processor, cores, memory, Node. */
import { availableParallelism, cpus, totalmem } from "node:os";

export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGB: number;
  readonly node: string;
}

export function thisMachine(): Machine {
  return {
    processor: cpus()[0]?.model.trim() || process.arch,
    cores: availableParallelism(),
    memoryGB: Math.round(totalmem() / 2 ** 30),
    node: process.versions.node,
  };
}

export const machineText = ({ processor, cores, memoryGB, node }: Machine): string =>
  `${cores} × ${processor}, ${memoryGB} GB, Node ${node}`;
