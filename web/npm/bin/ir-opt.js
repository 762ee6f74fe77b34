#!/usr/bin/env node
import {runCommand} from '../lib/command.js';

runCommand('ir-opt');
