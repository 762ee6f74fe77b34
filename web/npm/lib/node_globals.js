// What browsers and newer versions have as a global: Node 18 has it in a module.
import {webcrypto} from 'node:crypto';

globalThis.crypto ??= webcrypto;
