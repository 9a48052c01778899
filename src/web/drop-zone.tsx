/** Takes a file: chosen, dropped anywhere on the page, or pasted. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

const ACCEPTED = ".pdf,.png,.jpg,.jpeg,.tif,.tiff,.webp,.gif,.bmp";

export interface DropZoneProps {
  readonly compact: boolean;
  onFile(file: File): void;
  readonly children?: ComponentChildren;
}

export function DropZone({ compact, onFile, children }: DropZoneProps) {
  const input = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  useEffect(() => {
    const take = (files: FileList | undefined | null): void => {
      const file = files?.[0];
      if (file) onFile(file);
    };
    const onDragOver = (event: DragEvent): void => {
      event.preventDefault();
      setOver(true);
    };
    const onLeave = (event: DragEvent): void => {
      if (event.relatedTarget === null) setOver(false);
    };
    const onDrop = (event: DragEvent): void => {
      event.preventDefault();
      setOver(false);
      take(event.dataTransfer?.files);
    };
    const onPaste = (event: ClipboardEvent): void => take(event.clipboardData?.files);
    addEventListener("dragover", onDragOver);
    addEventListener("dragleave", onLeave);
    addEventListener("drop", onDrop);
    addEventListener("paste", onPaste);
    return () => {
      removeEventListener("dragover", onDragOver);
      removeEventListener("dragleave", onLeave);
      removeEventListener("drop", onDrop);
      removeEventListener("paste", onPaste);
    };
  }, [onFile]);
  return (
    <div class={`drop-zone${compact ? " compact" : ""}${over ? " over" : ""}`}>
      <input
        ref={input}
        class="hidden"
        type="file"
        accept={ACCEPTED}
        aria-label="A PDF or picture"
        tabIndex={-1}
        onChange={(event) => {
          const file = event.currentTarget.files?.[0];
          if (file) onFile(file);
          event.currentTarget.value = "";
        }}
      />
      {children}
      <button type="button" class={compact ? "" : "primary"} onClick={() => input.current!.click()}>
        {compact ? "Open another file" : "Choose a PDF or picture"}
      </button>
    </div>
  );
}
