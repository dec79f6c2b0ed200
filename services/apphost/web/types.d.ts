// The one file of types for the host's modules. What the specification defines comes from the
// official package; here are our own words only.

import type {
  McpUiHostContext,
  McpUiInitializeResult,
} from "@modelcontextprotocol/ext-apps";
import type { CallToolResult } from "@modelcontextprotocol/client";

export type { CallToolResult, McpUiHostContext, McpUiInitializeResult };

/** What the server writes into the page for us (`_boot` in handlers/host_page.py). */
export interface Boot {
  /** the operator's name for the server */
  name: string;
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
  /** what the page is told at first, but for what only this browser knows */
  introduction: McpUiInitializeResult;
  /** name of the declaring tool; null when no tool names this page */
  tool: string | null;
  /** the form for its arguments, and what its schema's defaults make */
  fields: Field[];
  defaults: Params;
  /** by CSP directive: what helps against a block; "" for all others */
  remedies: Record<string, string>;
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

/** One field of a form (`services/apphost/fields.py`). */
export interface Field {
  name: string;
  label: string;
  hint: string;
  tag: "input" | "select" | "textarea";
  /** properties of the control, such as `type` and `max` */
  attributes: object;
  /** value, label, whether it is chosen */
  choices: [string, string, boolean][];
  reads: "text" | "number" | "moment" | "check" | "several" | "json";
  /** an empty one is left out */
  optional: boolean;
}

/** What a server asks back (`services/apphost/questions.py`): a form, an address, or neither. */
export interface ServerQuestion {
  key: string;
  message: string;
  fields?: Field[];
  url?: string;
  /** why the host does not ask a person this */
  refused?: string;
}

export interface Asking {
  questions: ServerQuestion[];
  state: string | null;
}

/** A call once more: the answers by the questions' keys, and the server's own state. */
export interface Again {
  answers: Record<string, { action: "accept" | "decline" | "cancel"; content?: Params }>;
  state: string | null;
}

/** What came of a call: one of these (handlers/tool_call.py). */
export interface Outcome {
  /** the server's own result, unread */
  result?: CallToolResult;
  /** the server's own error, or the relay's for it */
  error?: RpcFault;
  asks?: Asking;
  /** problem+json of our own route; status 0: it could not be reached */
  problem?: { status: number; title: string; detail?: string };
}

declare global {
  interface Document {
    readonly prerendering?: boolean;
  }
}
