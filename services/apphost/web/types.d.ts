// The one file of types for the host's modules. What the specification defines comes from the
// official package; here are our own words only.

import type {
  McpUiHostContext,
  McpUiInitializeResult,
  McpUiStyles,
} from "@modelcontextprotocol/ext-apps";
import type { CallToolResult, Tool } from "@modelcontextprotocol/client";

export type { CallToolResult, McpUiHostContext, McpUiInitializeResult };

/** What the server writes into the page for us (`_boot` in handlers/host_page.py). */
export interface Boot {
  version: string;
  slug: string;
  name: string;
  origin: string;
  /** the `ui://` address that is shown */
  page: string;
  /** path of the frame */
  frame: string;
  /** path of the call route */
  call: string;
  /** what the read routes begin with; the method follows */
  reads: string;
  /** sandbox tokens of the iframe */
  sandbox: string;
  /** the console's look, in the standard variables */
  styles: McpUiStyles;
  /** the declaring tool; null when no tool names this page */
  tool: Tool | null;
  readOnly: boolean;
  /** this sign-in may look, not act */
  lookOnly: boolean;
}

export type Id = string | number;
export type Params = Record<string, unknown>;
export interface RpcFault {
  code: number;
  message: string;
  data?: unknown;
}

export type Incoming =
  | { kind: "request"; id: Id; method: string; params: Params }
  | { kind: "notification"; method: string; params: Params }
  | { kind: "answer"; id: Id }
  | { kind: "malformed"; id: Id }
  | { kind: "ignored" };

/** A request of the page while it is being answered. */
export interface Asked {
  /** the page has cancelled it, or is gone */
  signal: AbortSignal;
  /** tells the page something that belongs to it */
  notify(method: string, params: object): void;
}

/** Answers one method. Throws `Refusal` to answer with an error. */
export type Answerer = (params: Params, asked: Asked) => Promise<object> | object;
export type Listener = (params: Params) => void;

/** One window, heard and spoken to. */
export interface Port {
  send(message: object): void;
  close(): void;
}

/** Hears how far a call is: `progress`, perhaps `total` and `message`. */
export type Progress = (said: Record<string, unknown>) => void;

/** For whom a call is made: the page, the host on opening, the person's press on Run. */
export type Surface = "app" | "open" | "run";

export type Outcome =
  | { kind: "result"; result: CallToolResult }
  | { kind: "error"; error: RpcFault }
  | { kind: "problem"; status: number; title: string; detail: string };

declare global {
  interface Document {
    readonly prerendering?: boolean;
  }
}
