import { describeRecognizer } from "../../test/recognizer-conformance.ts";
import { nodeRuntime } from "../runtime/onnxruntime.node.ts";
import { loadRecognizer } from "./recognizer.ts";

describeRecognizer("in this process", (dir) => loadRecognizer(dir, nodeRuntime));
