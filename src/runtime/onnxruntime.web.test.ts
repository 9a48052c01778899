import { describeRuntime } from "../../test/runtime-conformance.ts";
import { webRuntime } from "./onnxruntime.web.ts";

describeRuntime("ONNX Runtime in WebAssembly", webRuntime());
