import type { Message } from '../transform/message.ts';
import type { HeaderMutation } from './messages.ts';
import { changesOf, OF_REQUEST, OF_RESPONSE, RejectedMutation } from './mutations.ts';
import type { Processor } from './processor.ts';

/** Applies a mutation to a message. A change that the server must not make is a failure of the server. */
export function applyMutation(
  message: Message,
  mutation: HeaderMutation | null | undefined,
  processor: Processor,
): void {
  if (!mutation) return;
  const { rules } = processor.settings;
  const pseudoHeaders = message.request === message ? OF_REQUEST : OF_RESPONSE;
  try {
    for (const change of changesOf(mutation, { rules, pseudoHeaders, onRejected: processor.onRejected })) {
      if (change.op === 'remove') message.remove(change.name);
      else if (change.op === 'append') message.append(change.name, change.value);
      else if (change.value !== '') message.set(change.name, change.value);
      else setEmpty(message, change.name);
    }
  } catch (error) {
    processor.fail(error);
  }
}

/** Setting an empty value would remove the header. */
function setEmpty(message: Message, name: string): void {
  if (name.startsWith(':') || name === 'host') throw new RejectedMutation(`the server set no value of ${name}`);
  message.remove(name);
  message.append(name, '');
}
