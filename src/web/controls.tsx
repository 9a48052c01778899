/** What can be set: how text is decoded, and what computes. */
import { useId } from "preact/hooks";
import { type DeviceWish, type Engine, locked, type Place, served } from "./backend.ts";
import type { Settings } from "./reading.ts";

export const blockLengths = [1, 2, 4, 8, 16, 32] as const;

export interface SettingsFormProps {
  readonly settings: Settings;
  onChange(settings: Settings): void;
}

export function SettingsForm({ settings, onChange }: SettingsFormProps) {
  const id = useId();
  const place = blockLengths.indexOf(settings.blockLength as 1);
  const one = settings.blockLength === 1;
  return (
    <fieldset class="settings">
      <legend class="hidden">Decoding</legend>
      <div class="setting">
        <label for={`${id}-block`}>Block length</label>
        <input
          id={`${id}-block`}
          type="range"
          min={0}
          max={blockLengths.length - 1}
          value={place}
          aria-valuetext={one ? "1 position, autoregression" : `${settings.blockLength} positions`}
          onInput={(event) => onChange({ ...settings, blockLength: blockLengths[Number(event.currentTarget.value)] })}
        />
        <span class="value" aria-hidden="true">
          {settings.blockLength}
        </span>
      </div>
      <div class="setting">
        <label for={`${id}-threshold`}>Threshold</label>
        <input
          id={`${id}-threshold`}
          type="range"
          min={0.5}
          max={1}
          step={0.01}
          value={settings.threshold}
          disabled={one}
          onInput={(event) => onChange({ ...settings, threshold: Number(event.currentTarget.value) })}
        />
        <span class="value" aria-hidden="true">
          {settings.threshold.toFixed(2)}
        </span>
      </div>
    </fieldset>
  );
}

export interface EngineFormProps {
  readonly engine: Engine;
  readonly disabled: boolean;
  onChange(engine: Engine): void;
}

export function EngineForm({ engine, disabled, onChange }: EngineFormProps) {
  const id = useId();
  return (
    <fieldset class="engine" disabled={disabled}>
      <legend class="hidden">Engine</legend>
      {served && (
        <label for={`${id}-place`}>
          Compute
          <select
            id={`${id}-place`}
            value={engine.place}
            onChange={(event) => onChange({ ...engine, place: event.currentTarget.value as Place })}
          >
            <option value="server">on this server</option>
            <option value="browser">in this browser</option>
          </select>
        </label>
      )}
      {engine.place === "browser" ? (
        <label for={`${id}-device`}>
          Device
          <select
            id={`${id}-device`}
            value={engine.device}
            onChange={(event) => onChange({ ...engine, device: event.currentTarget.value as DeviceWish })}
          >
            <option value="auto">what is faster</option>
            <option value="cpu">processor</option>
            <option value="webgpu">graphics processor</option>
          </select>
        </label>
      ) : (
        locked && (
          <label for={`${id}-key`}>
            API key
            <input
              id={`${id}-key`}
              type="password"
              autocomplete="off"
              value={engine.apiKey}
              onInput={(event) => onChange({ ...engine, apiKey: event.currentTarget.value })}
            />
          </label>
        )
      )}
    </fieldset>
  );
}
